#pragma once

#include "common/units.hpp"
#include "schedule/program/execution.hpp"
#include "sim/engine/simulation_options.hpp"
#include "sim/topology/network.hpp"

namespace ringside {

/// Runs the schedule round by round with a private link for every message (α + β·bytes of its route, no
/// contention) and returns the slowest rank's end. A rank's rounds follow one another: policies with several
/// in flight need the flow simulation. Memory grows with ranks and with the moves of one round, not with
/// messages. How ranks wait for each other: docs/architecture.md, "How a schedule runs".
Seconds replay(const Execution& execution, const Network& network, const SimulationOptions& options = {});

}  // namespace ringside
