#pragma once

#include <cstdint>
#include <vector>

#include "common/units.hpp"
#include "results/trace_event.hpp"
#include "schedule/program/execution.hpp"

namespace ringside {

/// What replay and flow simulation have in common.
struct SimulationOptions {
  /// Messages are reduced while they arrive, where that is the same as afterwards.
  bool reduces_on_arrival = false;
  /// Messages up to this size may be changed at their source as soon as they are sent.
  Bytes buffered{0};
  /// When set, an event is appended for everything that takes time, in the order in which it is simulated.
  std::vector<TraceEvent>* trace = nullptr;
};

/// From when to when something happened, in seconds of the simulation.
struct Span {
  double start = 0;
  double end = 0;
};

/// The event of a move of an execution's round.
inline TraceEvent trace_event(const Execution& execution, const Move& move, std::int64_t round,
                              TraceKind kind, Span time) {
  return {.rank = kind == TraceKind::reduction ? move.target : move.source,
          .source = move.source,
          .target = move.target,
          .round = round,
          .start = {time.start},
          .end = {time.end},
          .kind = kind,
          .first_chunk = move.first_chunk,
          .num_chunks = move.num_chunks,
          .bytes = {execution.bytes(move)}};
}

}  // namespace ringside
