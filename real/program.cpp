#include "real/program.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "common/error.hpp"
#include "schedule/chunk_layout.hpp"
#include "schedule/promise.hpp"

namespace ringside {
namespace {

/// Regions in `landing` lie within a cache line as the regions do into which they are reduced, so that a reduction's
/// operands are aligned alike.
constexpr std::int64_t kAlignment = 64;

/// Of longer messages the wait that is saved is a small part, and a second one in `landing` would drive more useful
/// data out of the caches.
constexpr std::int64_t kMaxEarlyLanding = 256 << 10;

std::int64_t aligned(std::int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

bool overlap(const Region& a, const Region& b) {
  return a.buffer == b.buffer && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

/// Hands out pieces of `landing` while the program is compiled; what is given back is used again.
class LandingAllocator {
 public:
  /// `like` is the offset of the region that it will be reduced into.
  std::int64_t take(std::int64_t bytes, std::int64_t like) {
    const std::int64_t within_line = like % kAlignment;
    const std::int64_t size = aligned(within_line + bytes);
    std::int64_t offset = 0;
    auto place = used_.begin();
    while (place != used_.end() && place->first - offset < size) {
      offset = place->second;
      ++place;
    }
    used_.insert(place, {offset, offset + size});
    peak_ = std::max(peak_, offset + size);
    return offset + within_line;
  }

  void give_back(std::int64_t offset) {
    const auto place = std::find_if(
        used_.begin(), used_.end(),
        [begin = offset - offset % kAlignment](const auto& piece) { return piece.first == begin; });
    RINGSIDE_CHECK(place != used_.end(), "a piece of landing was given back twice");
    used_.erase(place);
  }

  std::int64_t peak() const { return peak_; }

 private:
  std::vector<std::pair<std::int64_t, std::int64_t>> used_;  ///< [begin, end), ascending.
  std::int64_t peak_ = 0;
};

/// Data that has arrived, or will have at the end of the round, and is still to be reduced.
struct PendingReduction {
  Region source;
  Region target;
  Rank peer = 0;
  StepOrigin origin;
};

/// One rank's moves of one round that carry bytes.
struct RankRound {
  struct Transfer {
    Rank peer = 0;
    Region region;
    MoveKind kind = MoveKind::copy;
    StepOrigin origin;
  };
  struct Local {
    Region source;
    Region target;
    MoveKind kind = MoveKind::copy;
    StepOrigin origin;
  };

  std::vector<Transfer> sends;
  std::vector<Transfer> receives;
  std::vector<Local> locals;

  bool empty() const { return sends.empty() && receives.empty() && locals.empty(); }

  bool touches(const Region& region) const {
    const auto by_transfer = [&](const Transfer& transfer) { return overlap(transfer.region, region); };
    return sends_touch(region) || std::any_of(receives.begin(), receives.end(), by_transfer) ||
           std::any_of(locals.begin(), locals.end(), [&](const Local& local) {
             return overlap(local.source, region) || overlap(local.target, region);
           });
  }
  bool sends_touch(const Region& region) const {
    return std::any_of(sends.begin(), sends.end(),
                       [&](const Transfer& send) { return overlap(send.region, region); });
  }
};

/// Reads a schedule as one rank sees it: rounds in which the rank has no part are skipped.
class RankRounds {
 public:
  RankRounds(const Schedule& schedule, const Vector& vector, Rank rank)
      : schedule_(schedule),
        layout_(vector.num_elements, schedule.num_chunks()),
        element_size_(static_cast<std::int64_t>(size_of(vector.dtype))),
        rank_(rank) {}

  /// Replaces `round` by the next one; empty at the end.
  void next(RankRound& round) {
    round = {};
    while (round.empty() && next_round_ < schedule_.num_rounds()) {
      schedule_.write_round(next_round_, moves_);
      for (const Move& move : moves_) {
        add(move, round);
      }
      ++next_round_;
    }
  }

 private:
  void add(const Move& move, RankRound& round) const {
    if (move.source != rank_ && move.target != rank_) {
      return;
    }
    const ElementRange elements = layout_.elements(move.first_chunk, move.num_chunks);
    if (elements.count == 0) {
      return;
    }
    const Region source = region(move.source_buffer, elements);
    const Region target = region(move.target_buffer, elements);
    const StepOrigin origin = {
        .round = next_round_, .first_chunk = move.first_chunk, .num_chunks = move.num_chunks};
    if (move.local()) {
      round.locals.push_back({.source = source, .target = target, .kind = move.kind, .origin = origin});
    } else if (move.source == rank_) {
      round.sends.push_back({.peer = move.target, .region = source, .kind = move.kind, .origin = origin});
    } else {
      round.receives.push_back({.peer = move.source, .region = target, .kind = move.kind, .origin = origin});
    }
  }

  Region region(std::uint8_t buffer, const ElementRange& elements) const {
    return {
        .buffer = buffer, .offset = elements.first * element_size_, .bytes = elements.count * element_size_};
  }

  const Schedule& schedule_;
  ChunkLayout layout_;
  std::int64_t element_size_;
  Rank rank_;
  std::int64_t next_round_ = 0;
  std::vector<Move> moves_;
};

class Compiler {
 public:
  Compiler(Program& program, Receives receives)
      : program_(program), receives_(receives), landing_(program.landing()) {}

  /// `next` is the rank's next round: what conflicts with it is reduced as soon as it may be.
  void add_round(const RankRound& round, const RankRound& next) {
    reduce_pending([&](const PendingReduction& pending) { return round.touches(pending.target); });
    start_transfers(round);
    add_locals(round, false);
    // What is left of earlier rounds runs behind the transfers.
    reduce_pending([](const PendingReduction&) { return true; });
    add_locals(round, true);
    if (receives_ == Receives::one_round_ahead && may_receive_early(round, next)) {
      early_ = start_receives(next);
    }
    finish_transfers(round, next);
  }

  void finish() {
    reduce_pending([](const PendingReduction&) { return true; });
    program_.buffer_bytes[static_cast<std::size_t>(landing_)] = allocator_.peak();
  }

 private:
  static constexpr std::int32_t kWaited = -1;

  /// Receives of one round that have been started, in the order of RankRound::receives.
  struct Started {
    std::vector<std::int32_t> steps;
    std::vector<PendingReduction> arriving;
  };

  /// Nothing of `next` can arrive before what the same peer sends in `round`; what is copied into place must find it
  /// free even while `round` is under way, and what is to be reduced needs more of `landing`.
  static bool may_receive_early(const RankRound& round, const RankRound& next) {
    return std::all_of(next.receives.begin(), next.receives.end(), [&](const RankRound::Transfer& early) {
      return std::any_of(round.receives.begin(), round.receives.end(),
                         [&](const RankRound::Transfer& receive) { return receive.peer == early.peer; }) &&
             (early.kind == MoveKind::reduce ? early.region.bytes <= kMaxEarlyLanding
                                             : !round.touches(early.region));
    });
  }

  Started start_receives(const RankRound& round) {
    Started started;
    for (const RankRound::Transfer& receive : round.receives) {
      Region target = receive.region;
      if (receive.kind == MoveKind::reduce) {
        target = {.buffer = landing_,
                  .offset = allocator_.take(target.bytes, target.offset),
                  .bytes = target.bytes};
      }
      started.steps.push_back(program_.add(
          {.kind = StepKind::receive, .peer = receive.peer, .target = target, .origin = receive.origin}));
      started.arriving.push_back(
          {.source = target, .target = receive.region, .peer = receive.peer, .origin = receive.origin});
    }
    return started;
  }

  void start_transfers(const RankRound& round) {
    started_receives_ = early_ ? *std::exchange(early_, std::nullopt) : start_receives(round);
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
      program_.add({.kind = StepKind::reduce,
                    .peer = pending->peer,
                    .source = pending->source,
                    .target = pending->target,
                    .origin = pending->origin});
      allocator_.give_back(pending->source.offset);
    }
    pending_.erase(kept, pending_.end());
  }

  Program& program_;
  Receives receives_;
  std::int32_t landing_;
  LandingAllocator allocator_;
  std::vector<PendingReduction> pending_;

  // Of the round being compiled.
  std::vector<std::int32_t> started_sends_;
  Started started_receives_;
  std::optional<Started> early_;  ///< Of the next round.
};

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

Program compile(const Schedule& schedule, const Vector& vector, Rank rank, Receives receives) {
  const std::int64_t bytes = vector.num_elements * static_cast<std::int64_t>(size_of(vector.dtype));
  Program program = {.rank = rank, .num_ranks = schedule.num_ranks(), .dtype = vector.dtype, .op = vector.op};
  program.buffer_bytes.assign(static_cast<std::size_t>(schedule.num_buffers()), bytes);
  program.buffer_bytes.push_back(0);

  Compiler compiler(program, receives);
  RankRounds rounds(schedule, vector, rank);
  RankRound round;
  RankRound next;
  rounds.next(round);
  while (!round.empty()) {
    rounds.next(next);
    compiler.add_round(round, next);
    std::swap(round, next);
  }
  compiler.finish();
  if (vector.op == ReduceOp::avg && reduces(schedule.algorithm().collective)) {
    divide_result(schedule, vector, program);
  }
  return program;
}

}  // namespace ringside
