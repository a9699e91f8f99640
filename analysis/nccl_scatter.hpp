#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "analysis/nccl_fit.hpp"

/// How machines scatter round the model's prediction: what NcclSpread is estimated from.
namespace ringside {

/// One system against parameters that never saw it.
struct ScatteredTable {
  struct Row {
    double log_ratio = 0;      ///< log(measured / predicted).
    double latency_slope = 0;  ///< d log T / d log of the latencies, and of the bytes' time.
    double wire_slope = 0;
    double log2_bytes = 0;
    SizeBand band = SizeBand::small;
  };
  std::string group = {};
  MachineClass machine_class = MachineClass::node_nvlink;
  double log2_ranks = 1;
  std::vector<Row> rows = {};
};

ScatteredTable scatter_of(const NcclTable& table, const NcclParameters& parameters);

/// Per class, the standard deviations that make the residuals most likely (a Gaussian over machines, as NcclPosterior has it),
/// and the quantiles of the residuals in their units: each system counts once per band, and as if three more systems had
/// been exactly Gaussian, since the tails of a dozen systems say little.
std::array<NcclSpread, kNumMachineClasses> spreads_of(std::span<const ScatteredTable> tables);

}  // namespace ringside
