#pragma once

#include <vector>

#include "plots/charts/charts.hpp"
#include "scenario/machine/machine.hpp"

/// What `calibrate` shows of what it measured.
namespace ringside::cli {

/// Latency, bandwidth and reduction, the probes by size, and the pairs of ranks where they were probed.
void print_calibrated(const Calibrated& calibrated);

/// Latency and bandwidth of each rank to each other, for heat maps.
std::vector<plots::LabelledMatrix> pair_maps(const std::vector<PairPoint>& pairs);

}  // namespace ringside::cli
