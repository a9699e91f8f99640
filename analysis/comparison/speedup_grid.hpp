#pragma once

#include <span>
#include <string>
#include <vector>

#include "analysis/comparison/verdict.hpp"
#include "common/units.hpp"
#include "results/point.hpp"
#include "scenario/scenario.hpp"

namespace ringside {

/// How many times faster the candidate is than the baseline: time of the baseline over time of the candidate.
struct SpeedupGrid {
  std::string baseline;
  std::string candidate;
  std::vector<int> ranks;                    ///< Ascending.
  std::vector<Bytes> sizes;                  ///< Ascending.
  std::vector<std::vector<double>> speedup;  ///< [ranks][sizes]; NaN where there is no prediction.
  struct MeasuredCell {
    int ranks;
    Bytes bytes;
    double speedup;
  };
  std::vector<MeasuredCell> measured = {};  ///< Where the grid has such a cell; others are not drawn.
};

/// Predictions for the scenario's ranks, as far as the machine has them, and a wider range of sizes, and what
/// was measured of `points`. Throws as predict() does.
SpeedupGrid speedup_grid(const Scenario& scenario, const Machine& machine, std::span<const Point> points,
                         const AlgorithmPair& pair);

}  // namespace ringside
