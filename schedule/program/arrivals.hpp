#pragma once

#include <cstddef>
#include <cstdint>

#include "schedule/program/program.hpp"
#include "schedule/program/rank_rounds.hpp"
#include "schedule/program/staging.hpp"

namespace ringside {

/// Writes receives, and the reductions of what they bring, into a program.
class ArrivalWriter {
 public:
  struct Receive {
    std::int32_t step = 0;
    Step reduction;  ///< What a `reduce` move leaves to do when it has arrived.
  };

  explicit ArrivalWriter(Program& program) : program_(program) {}

  /// Into place, or into the staging buffer where it is to be reduced.
  Receive start(const RankRound::Receive& receive) {
    Region target = receive.target;
    if (receive.kind == MoveKind::reduce) {
      target = {.buffer = program_.staging(),
                .offset = staging_.take(target.bytes, target.offset),
                .bytes = target.bytes};
    }
    const std::int32_t step = program_.add(
        {.kind = StepKind::receive, .peer = receive.peer, .target = target, .origin = receive.origin});
    return {.step = step,
            .reduction = {.kind = StepKind::reduce,
                          .peer = receive.peer,
                          .source = target,
                          .target = receive.target,
                          .origin = receive.origin}};
  }

  void reduce(const Step& reduction) {
    program_.add(reduction);
    staging_.give_back(reduction.source.offset);
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
