#pragma once

#include <cstddef>
#include <cstdint>

#include "schedule/program/program.hpp"
#include "schedule/program/rank_rounds.hpp"
#include "schedule/program/staging.hpp"

namespace ringside {

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
    PendingReduction arriving;  ///< What a `reduce` move leaves to do.
  };

  explicit ArrivalWriter(Program& program) : program_(program) {}

  /// Into place, or into the staging buffer where it is to be reduced.
  Receive start(const RankRound::Transfer& receive) {
    Region target = receive.region;
    if (receive.kind == MoveKind::reduce) {
      target = {.buffer = program_.staging(),
                .offset = staging_.take(target.bytes, target.offset),
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
    staging_.give_back(arrived.source.offset);
  }

  /// When all has been written.
  void set_staging_size() {
    program_.buffer_bytes[static_cast<std::size_t>(program_.staging())] = staging_.peak();
  }

 private:
  Program& program_;
  StagingAllocator staging_;
};

}  // namespace ringside
