#include "lab/nccl/nccl_scatter.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <Eigen/Dense>

#include "common/error.hpp"
#include "sim/nccl/model.hpp"

namespace ringside {

namespace {

/// As in NcclPosterior.
constexpr double kRepeatNoise = 0.03;

double square(double x) { return x * x; }

/// How many systems a source has among `tables`.
using Sources = std::map<std::string, int>;

Sources sources_of(const std::vector<const ScatteredTable*>& tables) {
  Sources sources;
  for (const ScatteredTable* table : tables) {
    ++sources[table->group];
  }
  return sources;
}

/// −log likelihood of one system's residuals, but for a constant.
double surprise(const ScatteredTable& table, const NcclSpread& spread) {
  const auto count = static_cast<Eigen::Index>(table.rows.size());
  Eigen::MatrixXd covariance(count, count);
  Eigen::VectorXd residual(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const ScatteredTable::Row& a = table.rows[static_cast<std::size_t>(i)];
    const double share_a = byte_share(a.log2_bytes);
    residual(i) = a.log_ratio;
    for (Eigen::Index j = 0; j < count; ++j) {
      const ScatteredTable::Row& b = table.rows[static_cast<std::size_t>(j)];
      const double share_b = byte_share(b.log2_bytes);
      covariance(i, j) =
          square(spread.latency) * (1 - share_a) * (1 - share_b) + square(spread.bytes) * share_a * share_b +
          square(spread.shape) * std::exp(-0.5 * square((a.log2_bytes - b.log2_bytes) / spread.doublings));
    }
    covariance(i, i) += square(kRepeatNoise);
  }
  const Eigen::LLT<Eigen::MatrixXd> factors(covariance);
  const Eigen::VectorXd whitened = factors.matrixL().solve(residual);
  return 0.5 * whitened.squaredNorm() + factors.matrixLLT().diagonal().array().log().sum();
}

/// The most likely values, to a seventh, one after another until nothing moves. Each source weighs the same.
NcclSpread likeliest(const std::vector<const ScatteredTable*>& tables) {
  constexpr auto kDeviations =
      std::to_array<double>({0.04, 0.06, 0.08, 0.11, 0.15, 0.2, 0.27, 0.36, 0.48, 0.64, 0.85});
  constexpr auto kDoublings = std::to_array<double>({1, 1.5, 2, 3, 4});
  NcclSpread spread = {.latency = 0.27, .bytes = 0.27, .shape = 0.15, .doublings = 2, .quantiles = {}};
  const Sources sources = sources_of(tables);
  const auto total = [&](const NcclSpread& candidate) {
    double sum = 0;
    for (const ScatteredTable* table : tables) {
      sum += surprise(*table, candidate) / sources.at(table->group);
    }
    return sum;
  };
  const auto improve = [&](double NcclSpread::*member, std::span<const double> values) {
    double best = std::numeric_limits<double>::infinity();
    double best_value = spread.*member;
    for (const double value : values) {
      spread.*member = value;
      const double sum = total(spread);
      if (sum < best) {
        best = sum;
        best_value = value;
      }
    }
    spread.*member = best_value;
  };
  constexpr int kRounds = 4;
  for (int round = 0; round < kRounds; ++round) {
    const NcclSpread before = spread;
    improve(&NcclSpread::latency, kDeviations);
    improve(&NcclSpread::bytes, kDeviations);
    improve(&NcclSpread::shape, kDeviations);
    improve(&NcclSpread::doublings, kDoublings);
    if (spread == before) {
      break;
    }
  }
  return spread;
}

struct Weighted {
  double value = 0;
  double weight = 0;
};

double quantile(std::vector<Weighted> sample, double probability) {
  std::sort(sample.begin(), sample.end(),
            [](const Weighted& a, const Weighted& b) { return a.value < b.value; });
  double total = 0;
  for (const Weighted& one : sample) {
    total += one.weight;
  }
  double below = 0;
  for (const Weighted& one : sample) {
    below += one.weight;
    if (below >= probability * total) {
      return one.value;
    }
  }
  return sample.back().value;
}

/// A source weighs as the square root of its number of systems, as in the fit. With few sources unseen tails
/// count, too: less is cut off, least over PCIe, where hosts differ most. Chosen by coverage held out.
void set_quantiles(NcclSpread& spread, const std::vector<const ScatteredTable*>& tables) {
  constexpr double kTail = 0.05;
  const NcclKind kind = tables.front()->kind;
  const double unseen = kind == NcclKind::pcie_peer || kind == NcclKind::pcie_host ? 0.25 : 0.2;
  for (std::size_t band = 0; band < kNumSizeBands; ++band) {
    std::map<std::string, int> rows;
    std::map<std::string, int> systems;
    for (const ScatteredTable* table : tables) {
      const auto here = std::count_if(table->rows.begin(), table->rows.end(), [&](const auto& row) {
        return row.band == static_cast<SizeBand>(band);
      });
      if (here > 0) {
        rows[table->group] += static_cast<int>(here);
        ++systems[table->group];
      }
    }
    std::vector<Weighted> sample;
    for (const ScatteredTable* table : tables) {
      for (const ScatteredTable::Row& row : table->rows) {
        if (row.band == static_cast<SizeBand>(band)) {
          sample.push_back({.value = row.log_ratio / row.uncertainty,
                            .weight = std::sqrt(systems.at(table->group)) / rows.at(table->group)});
        }
      }
    }
    if (sample.empty()) {
      continue;
    }
    const double tail = std::max(0.0, kTail - unseen / static_cast<double>(rows.size()));
    spread.quantiles[band] = {.low = quantile(sample, tail), .high = quantile(sample, 1 - tail)};
  }
}

}  // namespace

ScatteredTable scatter_of(const NcclTable& table, const NcclParameters& parameters) {
  ScatteredTable result = {.group = table.group, .kind = table.rows.front().system.kind(), .rows = {}};
  for (const NcclTable::Row& row : table.rows) {
    result.rows.push_back(
        {.log_ratio = std::log(row.seconds / nccl_all_reduce(parameters, row.system, row.bytes).seconds),
         .log2_bytes = std::log2(row.bytes),
         .uncertainty = row.system.uncertainty(),
         .band = size_band(row.bytes)});
  }
  return result;
}

std::array<NcclSpread, kNumNcclKinds> spreads_of(std::span<const ScatteredTable> tables) {
  std::array<NcclSpread, kNumNcclKinds> spreads;
  for (std::size_t i = 0; i < kNumNcclKinds; ++i) {
    std::vector<const ScatteredTable*> of_kind;
    for (const ScatteredTable& table : tables) {
      if (table.kind == static_cast<NcclKind>(i)) {
        of_kind.push_back(&table);
      }
    }
    if (!of_kind.empty()) {  // Otherwise the defaults: nothing is known of such machines.
      spreads[i] = likeliest(of_kind);
      set_quantiles(spreads[i], of_kind);
    }
  }
  return spreads;
}

}  // namespace ringside
