#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "lab/nccl/nccl_fit.hpp"

/// How far machines are from the model's prediction: what NcclSpread is estimated from.
namespace ringside {

/// One system against parameters that never saw its source.
struct ScatteredTable {
  struct Row {
    double log_ratio = 0;  ///< log(measured / predicted).
    double log2_bytes = 0;
    double uncertainty = 1;  ///< NcclSystem::uncertainty().
    SizeBand band = SizeBand::small;
  };
  std::string group = {};
  NcclKind kind = NcclKind::nvlink;
  std::vector<Row> rows = {};
};

ScatteredTable scatter_of(const NcclTable& table, const NcclParameters& parameters);

/// Per kind, the most likely standard deviations (a Gaussian over machines), and the 5 % and 95 % quantiles
/// of the residuals themselves, conformal: a source weighs as the square root of its number of systems, as in
/// the fit, and a part of one more source, anywhere, is counted: few sources give their extremes.
std::array<NcclSpread, kNumNcclKinds> spreads_of(std::span<const ScatteredTable> tables);

}  // namespace ringside
