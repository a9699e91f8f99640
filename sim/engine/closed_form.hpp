#pragma once

#include "common/units.hpp"
#include "schedule/schedule.hpp"
#include "sim/topology/network.hpp"

namespace ringside {

/// α·messages + β·S·bytes + γ·S·reduced_bytes, with the counts of the schedule's critical path: what the
/// schedule takes when every pair of ranks has a private full-duplex link. Exact when the chunks divide S
/// evenly and 2γ ≤ β: a rank may have to reduce, during one transfer, what came from two neighbours.
inline Seconds closed_form(const Schedule& schedule, Bytes size, const Network::Uniform& network) {
  const CriticalPath path = schedule.critical_path();
  return path.messages * network.latency + path.bytes * (network.inverse_bandwidth * size) +
         path.reduced_bytes * (network.reduction * size);
}

}  // namespace ringside
