#include <algorithm>
#include <cstddef>
#include <deque>
#include <iterator>
#include <utility>
#include <vector>

#include "common/error.hpp"
#include "schedule/program/arrivals.hpp"
#include "schedule/program/compilers.hpp"
#include "schedule/program/receive_ahead.hpp"

namespace ringside {
namespace {

class RoundCompiler {
 public:
  RoundCompiler(const Execution& execution, Program& program)
      : program_(program),
        reader_(execution, program.rank),
        receive_ahead_(execution.policy().receives_ahead),
        arrivals_(program) {}

  void add_rounds() {
    for (; has_round(0); rounds_.pop_front()) {
      add_round();
    }
    reduce_pending([](const Step&) { return true; });
    arrivals_.set_staging_size();
  }

 private:
  static constexpr std::int32_t kWaited = -1;

  /// Receives of one round that have been started, in the order of RankRound::receives.
  struct Started {
    std::vector<std::int32_t> steps;
    std::vector<Step> reductions;
  };

  /// Reads rounds_[index] if it has not been read.
  bool has_round(std::size_t index) {
    while (rounds_.size() <= index) {
      RankRound round;
      reader_.next(round);
      if (round.empty()) {
        return false;
      }
      rounds_.push_back(std::move(round));
    }
    return true;
  }

  void add_round() {
    const RankRound last;
    const RankRound& next = has_round(1) ? rounds_[1] : last;
    const RankRound& round = rounds_.front();
    reduce_pending([&](const Step& pending) { return round.touches(pending.target); });
    start_transfers(round);
    add_locals(round, false);
    // What is left of earlier rounds runs behind the transfers.
    reduce_pending([](const Step&) { return true; });
    add_locals(round, true);
    while (receive_ahead_ && has_round(early_.size() + 1) && may_post_early(early_.size() + 1)) {
      early_.push_back(start_receives(rounds_[early_.size() + 1]));
    }
    finish_transfers(round, next);
  }

  /// Whether the receives of rounds_[index] may be posted, when those of all rounds before have been.
  bool may_post_early(std::size_t index) {
    parts_.clear();
    for (std::size_t i = 0; i < index; ++i) {
      parts_.push_back(part(rounds_[i]));
    }
    return may_post_ahead(program_.rank, parts_, part(rounds_[index]));
  }

  static RankPart part(const RankRound& round) {
    return {.moves = round.moves, .to_reduce = round.to_reduce};
  }

  Started start_receives(const RankRound& round) {
    Started started;
    for (const RankRound::Receive& receive : round.receives) {
      const ArrivalWriter::Receive one = arrivals_.start(receive);
      started.steps.push_back(one.step);
      started.reductions.push_back(one.reduction);
    }
    return started;
  }

  void start_transfers(const RankRound& round) {
    if (early_.empty()) {
      started_receives_ = start_receives(round);
    } else {
      started_receives_ = std::move(early_.front());
      early_.pop_front();
    }
    started_sends_.clear();
    for (const Step& send : round.sends) {
      started_sends_.push_back(program_.add(send));
    }
  }

  /// Local moves read values from before the round: a move whose target another one reads comes after it.
  /// Those into regions that are being sent (`after_sends`) wait for these sends.
  void add_locals(const RankRound& round, bool after_sends) {
    std::vector<Step> left;
    std::ranges::copy_if(round.locals, std::back_inserter(left),
                         [&](const Step& local) { return round.sends_touch(local.target) == after_sends; });
    while (!left.empty()) {
      const auto ready = std::ranges::find_if(left, [&](const Step& local) {
        return std::ranges::none_of(
            left, [&](const Step& other) { return &other != &local && overlap(other.source, local.target); });
      });
      RINGSIDE_CHECK(ready != left.end(), "local moves of one round read each other's targets");
      if (after_sends) {
        wait_for_sends_of(ready->target);
      }
      program_.add(*ready);
      left.erase(ready);
    }
  }

  /// Waits for everything that was started. Arrivals that the rank must reduce before its next round anyway
  /// are reduced while the others are still on their way; the rest stays pending.
  void finish_transfers(const RankRound& round, const RankRound& next) {
    for (std::size_t i = 0; i < started_receives_.steps.size(); ++i) {
      wait_for(started_receives_.steps[i]);
      if (round.receives[i].kind == MoveKind::copy) {
        continue;
      }
      const Step& arrived = pending_.emplace_back(started_receives_.reductions[i]);
      if (next.empty() || next.touches(arrived.target)) {
        wait_for_sends_of(arrived.target);
        reduce_pending([source = arrived.source](const Step& pending) { return pending.source == source; });
      }
    }
    for (std::int32_t& send : started_sends_) {
      wait_for(send);
    }
  }

  void wait_for(std::int32_t& transfer) {
    if (transfer != kWaited) {
      program_.add({.kind = StepKind::wait, .transfer = std::exchange(transfer, kWaited)});
    }
  }

  void wait_for_sends_of(const Region& region) {
    for (std::int32_t& send : started_sends_) {
      if (send != kWaited && overlap(program_.steps[static_cast<std::size_t>(send)].source, region)) {
        wait_for(send);
      }
    }
  }

  template <typename Predicate>
  void reduce_pending(Predicate predicate) {
    const auto kept = std::stable_partition(pending_.begin(), pending_.end(),
                                            [&](const Step& pending) { return !predicate(pending); });
    for (auto pending = kept; pending != pending_.end(); ++pending) {
      arrivals_.reduce(*pending);
    }
    pending_.erase(kept, pending_.end());
  }

  Program& program_;
  RankRounds reader_;
  bool receive_ahead_;
  ArrivalWriter arrivals_;
  std::vector<Step> pending_;  ///< Reductions of what has arrived, or will have at the end of the round.

  std::deque<RankRound>
      rounds_;                 ///< The one being compiled, and those after it as far as they have been read.
  std::deque<Started> early_;  ///< The receives of rounds_[1], rounds_[2], … that have been posted.
  std::vector<RankPart> parts_;

  // The transfers of the round being compiled.
  std::vector<std::int32_t> started_sends_;
  Started started_receives_;
};

}  // namespace

void compile_rounds(const Execution& execution, Program& program) {
  RoundCompiler(execution, program).add_rounds();
}

}  // namespace ringside
