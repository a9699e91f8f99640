#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/sweep.hpp"
#include "scenario/scenario.hpp"
#include "sim/predict.hpp"

namespace ringside::cli {

struct SweepRequest {
  const Scenario& scenario;
  const Machine& machine;
  const std::vector<Sweep>& sweeps;
  PredictOptions options;
  std::filesystem::path directory;
  bool charts = true;
};

/// Predicts the scenario for every combination of the sweeps' values, prints the winner of each, and draws the winners of
/// the last two sweeps as a map.
void run_sweeps(const SweepRequest& request, const CommonOptions& common, Progress& progress);

}  // namespace ringside::cli
