#pragma once

#include <vector>

#include "common/units.hpp"
#include "results/trace_event.hpp"

namespace ringside {

/// What replay and flow simulation have in common.
struct SimulationOptions {
  /// Messages up to this size leave without waiting for the receiver: they start when the source has reached their round, and
  /// the source goes on when they have arrived. 0 = rendezvous always, which is what the executor does.
  Bytes eager_threshold{0};
  /// When set, an event is appended for everything that takes time, in the order in which it is simulated.
  std::vector<TraceEvent>* trace = nullptr;
};

}  // namespace ringside
