#pragma once

#include <vector>

#include "common/trace.hpp"
#include "common/units.hpp"

namespace ringside {

/// What replay and flow simulation have in common.
struct SimulationOptions {
  /// Messages up to this size leave without waiting for the receiver: they start when the source has come, and
  /// the source goes on when they have arrived. 0 = rendezvous always, which is what the executor does.
  Bytes eager_threshold{0};
  /// A rank comes to its next round when fewer than so many of its rounds are not complete; ours take one at a time.
  int rounds_at_once = 1;
  /// When set, an event is appended for everything that takes time, in the order in which it is simulated.
  std::vector<TraceEvent>* trace = nullptr;
};

}  // namespace ringside
