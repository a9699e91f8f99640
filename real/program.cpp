#include "real/program.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <utility>

#include "common/error.hpp"
#include "real/landing.hpp"
#include "real/rank_rounds.hpp"
#include "schedule/chunk_layout.hpp"
#include "schedule/promise.hpp"
#include "schedule/receive_ahead.hpp"
#include "schedule/slices.hpp"

namespace ringside {
namespace {

/// Data that has arrived, or will have at the end of the round, and is still to be reduced.
struct PendingReduction {
  Region source;
  Region target;
  Rank peer = 0;
  StepOrigin origin;
};

/// Writes receives, and the reductions of what they bring, into a program.
class ArrivalWriter {
 public:
  struct Receive {
    std::int32_t step = 0;
    PendingReduction arriving;  ///< Of a `reduce`.
  };

  explicit ArrivalWriter(Program& program) : program_(program) {}

  /// Into place, or into `landing` where it is to be reduced.
  Receive start(const RankRound::Transfer& receive) {
    Region target = receive.region;
    if (receive.kind == MoveKind::reduce) {
      target = {.buffer = program_.landing(),
                .offset = landing_.take(target.bytes, target.offset),
                .bytes = target.bytes};
    }
    const std::int32_t step = program_.add(
        {.kind = StepKind::receive, .peer = receive.peer, .target = target, .origin = receive.origin});
    return {.step = step,
            .arriving = {
                .source = target, .target = receive.region, .peer = receive.peer, .origin = receive.origin}};
  }

  void reduce(const PendingReduction& arrived) {
    program_.add({.kind = StepKind::reduce,
                  .peer = arrived.peer,
                  .source = arrived.source,
                  .target = arrived.target,
                  .origin = arrived.origin});
    landing_.give_back(arrived.source.offset);
  }

  /// When all has been written.
  void set_size_of_landing() {
    program_.buffer_bytes[static_cast<std::size_t>(program_.landing())] = landing_.peak();
  }

 private:
  Program& program_;
  LandingAllocator landing_;
};

class Compiler {
 public:
  /// The reader must outlive the compiler.
  Compiler(Program& program, RankRounds& reader, bool receive_ahead)
      : program_(program), reader_(reader), receive_ahead_(receive_ahead), arrivals_(program) {}

  void add_rounds() {
    for (; has_round(0); rounds_.pop_front()) {
      add_round();
    }
    reduce_pending([](const PendingReduction&) { return true; });
    arrivals_.set_size_of_landing();
  }

 private:
  static constexpr std::int32_t kWaited = -1;

  /// Receives of one round that have been started, in the order of RankRound::receives.
  struct Started {
    std::vector<std::int32_t> steps;
    std::vector<PendingReduction> arriving;
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
    reduce_pending([&](const PendingReduction& pending) { return round.touches(pending.target); });
    start_transfers(round);
    add_locals(round, false);
    // What is left of earlier rounds runs behind the transfers.
    reduce_pending([](const PendingReduction&) { return true; });
    add_locals(round, true);
    while (receive_ahead_ && has_round(early_.size() + 1) && may_receive_early(early_.size() + 1)) {
      early_.push_back(start_receives(rounds_[early_.size() + 1]));
    }
    finish_transfers(round, next);
  }

  /// Whether the receives of rounds_[index] may start, when those of all rounds before have.
  bool may_receive_early(std::size_t index) const {
    const RankRound& early = rounds_[index];
    std::int64_t to_reduce = early.to_reduce;
    for (std::size_t i = 0; i < index; ++i) {
      if (!may_receive_during(program_.rank, rounds_[i].moves, early.moves)) {
        return false;
      }
      to_reduce += rounds_[i].to_reduce;
    }
    return early.to_reduce == 0 || to_reduce <= kMostReceivedAhead;
  }

  Started start_receives(const RankRound& round) {
    Started started;
    for (const RankRound::Transfer& receive : round.receives) {
      const ArrivalWriter::Receive one = arrivals_.start(receive);
      started.steps.push_back(one.step);
      started.arriving.push_back(one.arriving);
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
    for (const RankRound::Transfer& send : round.sends) {
      started_sends_.push_back(program_.add(
          {.kind = StepKind::send, .peer = send.peer, .source = send.region, .origin = send.origin}));
    }
  }

  /// Local moves read values from before the round: a move whose target another one reads comes after it. Those
  /// into regions that are being sent (`after_sends`) wait for these sends.
  void add_locals(const RankRound& round, bool after_sends) {
    std::vector<RankRound::Local> left;
    for (const RankRound::Local& local : round.locals) {
      if (round.sends_touch(local.target) == after_sends) {
        left.push_back(local);
      }
    }
    while (!left.empty()) {
      const auto ready = std::find_if(left.begin(), left.end(), [&](const RankRound::Local& local) {
        return std::none_of(left.begin(), left.end(), [&](const RankRound::Local& other) {
          return &other != &local && overlap(other.source, local.target);
        });
      });
      RINGSIDE_CHECK(ready != left.end(), "local moves of one round read each other's targets");
      if (after_sends) {
        wait_for_sends_of(ready->target);
      }
      program_.add({.kind = ready->kind == MoveKind::copy ? StepKind::copy : StepKind::reduce,
                    .peer = program_.rank,
                    .source = ready->source,
                    .target = ready->target,
                    .origin = ready->origin});
      left.erase(ready);
    }
  }

  /// Waits for everything that was started. Arrivals that the rank must reduce before its next round anyway are
  /// reduced while the others are still on their way; the rest stays pending.
  void finish_transfers(const RankRound& round, const RankRound& next) {
    for (std::size_t i = 0; i < started_receives_.steps.size(); ++i) {
      wait_for(started_receives_.steps[i]);
      if (round.receives[i].kind == MoveKind::copy) {
        continue;
      }
      const PendingReduction& arrived = pending_.emplace_back(started_receives_.arriving[i]);
      if (next.empty() || next.touches(arrived.target)) {
        wait_for_sends_of(arrived.target);
        reduce_pending(
            [source = arrived.source](const PendingReduction& pending) { return pending.source == source; });
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
    const auto kept =
        std::stable_partition(pending_.begin(), pending_.end(),
                              [&](const PendingReduction& pending) { return !predicate(pending); });
    for (auto pending = kept; pending != pending_.end(); ++pending) {
      arrivals_.reduce(*pending);
    }
    pending_.erase(kept, pending_.end());
  }

  Program& program_;
  RankRounds& reader_;
  bool receive_ahead_;
  ArrivalWriter arrivals_;
  std::vector<PendingReduction> pending_;

  std::deque<RankRound>
      rounds_;                 ///< The one being compiled, and those after it as far as they have been read.
  std::deque<Started> early_;  ///< Of rounds_[1], rounds_[2], …

  // Of the round being compiled.
  std::vector<std::int32_t> started_sends_;
  Started started_receives_;
};

/// Compiles a schedule in slices (Schedule::in_slices): several rounds are under way at once. What a round brings is
/// reduced behind those that still are, or, where the next round to start sends it on, just before it is sent.
class SliceCompiler {
 public:
  SliceCompiler(Program& program, const Slicing& slicing)
      : program_(program), slicing_(slicing), arrivals_(program) {}

  void add_round(const RankRound& round) {
    RINGSIDE_CHECK(round.locals.empty() && round.sends.size() == round.receives.size(),
                   "in slices every rank sends one message for each that it receives");
    UnderWay& under_way = under_way_.emplace_back();
    for (std::size_t i = 0; i < round.sends.size(); ++i) {
      reduce_arrived(round.sends[i].region);
      reduce_arrived(round.receives[i].region);
      start_receive(round.receives[i], under_way);
      under_way.transfers.push_back(program_.add({.kind = StepKind::send,
                                                  .peer = round.sends[i].peer,
                                                  .source = round.sends[i].region,
                                                  .origin = round.sends[i].origin}));
    }
    if (under_way_.size() == static_cast<std::size_t>(slicing_.at_once)) {
      wait_for_oldest();
    }
  }

  void finish() {
    while (!under_way_.empty()) {
      wait_for_oldest();
    }
    reduce_all_arrived();
    arrivals_.set_size_of_landing();
  }

 private:
  /// One round's.
  struct UnderWay {
    std::vector<std::int32_t> transfers;
    std::vector<PendingReduction> arriving;
  };

  void start_receive(const RankRound::Transfer& receive, UnderWay& under_way) {
    const ArrivalWriter::Receive started = arrivals_.start(receive);
    under_way.transfers.push_back(started.step);
    if (receive.kind == MoveKind::reduce) {
      under_way.arriving.push_back(started.arriving);
    }
  }

  void wait_for_oldest() {
    const UnderWay& oldest = under_way_.front();
    for (const std::int32_t transfer : oldest.transfers) {
      program_.add({.kind = StepKind::wait, .transfer = transfer});
    }
    arrived_.insert(arrived_.end(), oldest.arriving.begin(), oldest.arriving.end());
    under_way_.pop_front();
    if (slicing_.at_once < slicing_.stride) {
      reduce_all_arrived();
    }
  }

  void reduce_all_arrived() {
    while (!arrived_.empty()) {
      reduce(arrived_.begin());
    }
  }

  void reduce_arrived(const Region& region) {
    const auto arrived = std::find_if(arrived_.begin(), arrived_.end(), [&](const PendingReduction& pending) {
      return overlap(pending.target, region);
    });
    if (arrived != arrived_.end()) {
      reduce(arrived);
    }
  }

  void reduce(std::deque<PendingReduction>::iterator arrived) {
    arrivals_.reduce(*arrived);
    arrived_.erase(arrived);
  }

  Program& program_;
  Slicing slicing_;
  ArrivalWriter arrivals_;
  std::deque<UnderWay> under_way_;        ///< Oldest first.
  std::deque<PendingReduction> arrived_;  ///< At most one per slice.
};

void add_rounds_in_slices(const Schedule& sliced, const Vector& vector, Program& program) {
  SliceCompiler compiler(program, sliced.slicing());
  RankRounds rounds(sliced, vector, program.rank);
  RankRound round;
  for (rounds.next(round); !round.empty(); rounds.next(round)) {
    compiler.add_round(round);
  }
  compiler.finish();
}

Slicing slicing_for(const Schedule& schedule, Bytes size, Pacing pacing) {
  switch (pacing) {
    case Pacing::in_slices_on_own_cores:
      return slicing_of(schedule, size, Cores::own);
    case Pacing::in_slices_on_shared_cores:
      return slicing_of(schedule, size, Cores::shared);
    case Pacing::round_by_round:
    case Pacing::receive_ahead:
      break;
  }
  return {};
}

/// op avg: the sum is divided once, at the end, wherever the result is promised.
void divide_result(const Schedule& schedule, const Vector& vector, Program& program) {
  const ChunkLayout layout(vector.num_elements, schedule.num_chunks());
  const auto element_size = static_cast<std::int64_t>(size_of(vector.dtype));
  for (std::int32_t chunk = 0; chunk < schedule.num_chunks(); ++chunk) {
    const ElementRange elements = layout.elements(chunk);
    if (elements.count == 0 || !promised_at_end(schedule, program.rank, chunk)) {
      continue;
    }
    const Region region = {.offset = elements.first * element_size, .bytes = elements.count * element_size};
    const bool adjacent =
        !program.steps.empty() && program.steps.back().kind == StepKind::divide &&
        program.steps.back().target.offset + program.steps.back().target.bytes == region.offset;
    if (adjacent) {
      program.steps.back().target.bytes += region.bytes;
      program.steps.back().origin.num_chunks = chunk + 1 - program.steps.back().origin.first_chunk;
    } else {
      program.add({.kind = StepKind::divide,
                   .peer = program.rank,
                   .target = region,
                   .origin = {.round = schedule.num_rounds(), .first_chunk = chunk}});
    }
  }
}

}  // namespace

std::int32_t Program::add(const Step& step) {
  steps.push_back(step);
  return static_cast<std::int32_t>(steps.size()) - 1;
}

Program compile(const Schedule& schedule, const Vector& vector, Rank rank, Pacing pacing) {
  const std::int64_t bytes = vector.num_elements * static_cast<std::int64_t>(size_of(vector.dtype));
  Program program = {.rank = rank, .num_ranks = schedule.num_ranks(), .dtype = vector.dtype, .op = vector.op};
  program.buffer_bytes.assign(static_cast<std::size_t>(schedule.num_buffers()), bytes);
  program.buffer_bytes.push_back(0);

  const Slicing slicing = slicing_for(schedule, {bytes}, pacing);
  if (slicing.count > 1) {
    add_rounds_in_slices(schedule.in_slices(slicing), vector, program);
  } else {
    RankRounds rounds(schedule, vector, rank);
    Compiler(program, rounds, pacing != Pacing::round_by_round).add_rounds();
  }
  if (vector.op == ReduceOp::avg && reduces(schedule.algorithm().collective)) {
    divide_result(schedule, vector, program);
  }
  return program;
}

}  // namespace ringside
