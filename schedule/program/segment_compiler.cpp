#include <algorithm>
#include <cstddef>
#include <deque>
#include <vector>

#include "common/error.hpp"
#include "schedule/program/arrivals.hpp"
#include "schedule/program/compilers.hpp"

namespace ringside {
namespace {

/// Several rounds are in flight at once. What a round brings is reduced behind those that still are, or,
/// where the next round to start sends it on, just before it is sent.
class SegmentCompiler {
 public:
  SegmentCompiler(const ExecutionPolicy& policy, Program& program)
      : program_(program), policy_(policy), arrivals_(program) {}

  void add_round(const RankRound& round) {
    RINGSIDE_CHECK(round.locals.empty() && round.sends.size() == round.receives.size(),
                   "in segments every rank sends one message for each that it receives");
    UnderWay& under_way = under_way_.emplace_back();
    for (std::size_t i = 0; i < round.sends.size(); ++i) {
      reduce_arrived(round.sends[i].source);
      reduce_arrived(round.receives[i].target);
      start_receive(round.receives[i], under_way);
      under_way.transfers.push_back(program_.add(round.sends[i]));
    }
    if (under_way_.size() == static_cast<std::size_t>(policy_.in_flight)) {
      wait_for_oldest();
    }
  }

  void finish() {
    while (!under_way_.empty()) {
      wait_for_oldest();
    }
    reduce_all_arrived();
    arrivals_.set_staging_size();
  }

 private:
  /// What one round has started.
  struct UnderWay {
    std::vector<std::int32_t> transfers;
    std::vector<Step> reductions;
  };

  void start_receive(const RankRound::Receive& receive, UnderWay& under_way) {
    const ArrivalWriter::Receive started = arrivals_.start(receive);
    under_way.transfers.push_back(started.step);
    if (receive.kind == MoveKind::reduce) {
      under_way.reductions.push_back(started.reduction);
    }
  }

  void wait_for_oldest() {
    const UnderWay& oldest = under_way_.front();
    for (const std::int32_t transfer : oldest.transfers) {
      program_.add({.kind = StepKind::wait, .transfer = transfer});
    }
    arrived_.insert(arrived_.end(), oldest.reductions.begin(), oldest.reductions.end());
    under_way_.pop_front();
    if (policy_.in_flight < policy_.stride) {
      reduce_all_arrived();
    }
  }

  void reduce_all_arrived() {
    while (!arrived_.empty()) {
      reduce(arrived_.begin());
    }
  }

  void reduce_arrived(const Region& region) {
    const auto arrived = std::ranges::find_if(
        arrived_, [&](const Step& reduction) { return overlap(reduction.target, region); });
    if (arrived != arrived_.end()) {
      reduce(arrived);
    }
  }

  void reduce(std::deque<Step>::iterator arrived) {
    arrivals_.reduce(*arrived);
    arrived_.erase(arrived);
  }

  Program& program_;
  const ExecutionPolicy& policy_;
  ArrivalWriter arrivals_;
  std::deque<UnderWay> under_way_;  ///< Oldest first.
  std::deque<Step> arrived_;        ///< Reductions of what has arrived, at most one per segment.
};

}  // namespace

void compile_segments(const Execution& execution, Program& program) {
  SegmentCompiler compiler(execution.policy(), program);
  RankRounds rounds(execution, program.rank);
  RankRound round;
  for (rounds.next(round); !round.empty(); rounds.next(round)) {
    compiler.add_round(round);
  }
  compiler.finish();
}

}  // namespace ringside
