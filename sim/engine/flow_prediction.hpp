#pragma once

#include "results/prediction.hpp"
#include "schedule/program/execution.hpp"
#include "sim/engine/simulation_options.hpp"
#include "sim/symmetry/partition.hpp"
#include "sim/topology/network.hpp"

namespace ringside {

struct FlowOptions {
  SimulationOptions simulation = {};
  bool force = false;               ///< Simulate all messages even where that would take very long.
  KnownPartition* known = nullptr;  ///< As in SymmetryOptions.
};

/// Sets the time and its limits, by flow simulation: of classes of ranks where messages are many and
/// ranks have classes, otherwise of all ranks. Throws Error{bad_input} where that would take very long.
void predict_flow(const Execution& execution, const Network& network, const FlowOptions& options,
                  Prediction& prediction);

}  // namespace ringside
