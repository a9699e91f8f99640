#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/units.hpp"
#include "schedule/program/execution.hpp"
#include "sim/engine/simulation_options.hpp"
#include "sim/topology/network.hpp"

/// Event-driven simulation with contention: messages that are in flight together share links
/// (link_sharing.hpp) or the processor (shared_processor.hpp).
namespace ringside {

struct FlowResult {
  Seconds seconds;
  std::vector<Limit> limits;   ///< As in Prediction.
  std::optional<NicUse> nics;  ///< As in Prediction.
  std::int64_t num_messages = 0;
};

/// Runs the schedule under its policy; how ranks wait for each other: docs/architecture.md, "How a schedule
/// runs". Memory grows with ranks, links and the rounds that ranks are apart, not with messages.
FlowResult simulate_flow(const Execution& execution, const Network& network,
                         const SimulationOptions& options = {});

/// What simulate_flow would take, roughly.
struct FlowEstimate {
  double messages = 0;
  Seconds seconds;   ///< On the wall.
  double bytes = 0;  ///< The memory that it needs.
};

FlowEstimate estimate_flow(const Execution& execution, const Network& network);

/// Why this flow simulation should not be started without being forced to; empty when it may.
std::string too_large(const FlowEstimate& estimate);

}  // namespace ringside
