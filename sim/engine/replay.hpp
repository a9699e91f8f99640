#pragma once

#include "common/units.hpp"
#include "schedule/program/execution.hpp"
#include "sim/engine/simulation_options.hpp"
#include "sim/topology/network.hpp"

namespace ringside {

/// Runs the schedule round by round with a private link for every message (α + β·bytes of its route, no contention)
/// and returns when the slowest rank is done. Rounds of a rank follow one another: a policy with several in flight, whose
/// messages share links, is for the flow simulation. Memory grows with ranks and with the moves of one round, not with
/// messages. How ranks wait for each other: docs/architecture.md, "How a schedule runs".
Seconds replay(const Execution& execution, const Network& network, const SimulationOptions& options = {});

}  // namespace ringside
