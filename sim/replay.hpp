#pragma once

#include "common/units.hpp"
#include "schedule/schedule.hpp"
#include "sim/chunk_sizes.hpp"
#include "sim/network.hpp"
#include "sim/simulation_options.hpp"

namespace ringside {

/// Runs the schedule round by round with a private link for every message (α + β·bytes of its route, no contention)
/// and returns when the slowest rank is done. Memory grows with ranks and with the moves of one round, not with
/// messages. How ranks wait for each other: docs/architecture.md, "How a schedule runs".
Seconds replay(const Schedule& schedule, const ChunkSizes& sizes, const Network& network,
               const SimulationOptions& options = {});

}  // namespace ringside
