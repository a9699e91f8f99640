#include "analysis/nccl_scatter.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Dense>

#include "common/error.hpp"
#include "sim/nccl_model.hpp"

namespace ringside {

namespace {

/// As in NcclPosterior.
constexpr double kRepeatNoise = 0.03;
constexpr double kShapeDoublings = 2;

double square(double x) { return x * x; }

/// −log likelihood of one system's residuals, but for a constant.
double surprise(const ScatteredTable& table, const NcclSpread& spread) {
  const auto count = static_cast<Eigen::Index>(table.rows.size());
  const double wire = square(spread.wire) + square(spread.wire_per_doubling) * (table.log2_ranks - 1);
  Eigen::MatrixXd covariance(count, count);
  Eigen::VectorXd residual(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const ScatteredTable::Row& a = table.rows[static_cast<std::size_t>(i)];
    residual(i) = a.log_ratio;
    for (Eigen::Index j = 0; j < count; ++j) {
      const ScatteredTable::Row& b = table.rows[static_cast<std::size_t>(j)];
      covariance(i, j) =
          square(spread.latency) * a.latency_slope * b.latency_slope + wire * a.wire_slope * b.wire_slope +
          square(spread.shape) * std::exp(-0.5 * square((a.log2_bytes - b.log2_bytes) / kShapeDoublings));
    }
    covariance(i, i) += square(kRepeatNoise);
  }
  const Eigen::LLT<Eigen::MatrixXd> factors(covariance);
  const Eigen::VectorXd whitened = factors.matrixL().solve(residual);
  return 0.5 * whitened.squaredNorm() + factors.matrixLLT().diagonal().array().log().sum();
}

/// The most likely standard deviations, to a seventh, one after another until nothing moves.
NcclSpread likeliest(const std::vector<const ScatteredTable*>& tables) {
  constexpr auto kValues =
      std::to_array<double>({0.02, 0.04, 0.06, 0.08, 0.11, 0.15, 0.2, 0.27, 0.36, 0.48, 0.64, 0.85, 1.1});
  NcclSpread spread = {
      .latency = 0.27, .wire = 0.27, .wire_per_doubling = 0.27, .shape = 0.15, .quantiles = {}};
  const auto total = [&](const NcclSpread& candidate) {
    double sum = 0;
    for (const ScatteredTable* table : tables) {
      sum += surprise(*table, candidate);
    }
    return sum;
  };
  constexpr std::array kMembers = {&NcclSpread::latency, &NcclSpread::wire, &NcclSpread::wire_per_doubling,
                                   &NcclSpread::shape};
  constexpr int kRounds = 4;
  for (int round = 0; round < kRounds; ++round) {
    const NcclSpread before = spread;
    for (double NcclSpread::*const member : kMembers) {
      double best = std::numeric_limits<double>::infinity();
      double best_value = spread.*member;
      for (const double value : kValues) {
        spread.*member = value;
        const double sum = total(spread);
        if (sum < best) {
          best = sum;
          best_value = value;
        }
      }
      spread.*member = best_value;
    }
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

/// A Gaussian as 199 quantiles of the weight of `systems`.
void add_gaussian(std::vector<Weighted>& sample, double systems) {
  constexpr int kCount = 199;
  for (int i = 1; i <= kCount; ++i) {
    // Inverse of the distribution by bisection of erfc; 60 halvings of [−6, 6] are exact.
    const double probability = static_cast<double>(i) / (kCount + 1);
    double low = -6;
    double high = 6;
    for (int step = 0; step < 60; ++step) {
      const double middle = (low + high) / 2;
      (0.5 * std::erfc(-middle / std::sqrt(2.0)) < probability ? low : high) = middle;
    }
    sample.push_back({.value = low, .weight = systems / kCount});
  }
}

void set_quantiles(NcclSpread& spread, const std::vector<const ScatteredTable*>& tables) {
  constexpr double kGaussianSystems = 3;
  // Not 5 %: the tails of a dozen groups hold less of the next group than of themselves.
  constexpr double kTail = 0.03;
  for (std::size_t band = 0; band < kNumSizeBands; ++band) {
    std::vector<Weighted> sample;
    for (const ScatteredTable* table : tables) {
      const auto in_band = static_cast<double>(std::count_if(
          table->rows.begin(), table->rows.end(),
          [&](const ScatteredTable::Row& row) { return row.band == static_cast<SizeBand>(band); }));
      const double wire = square(spread.wire) + square(spread.wire_per_doubling) * (table->log2_ranks - 1);
      for (const ScatteredTable::Row& row : table->rows) {
        if (row.band == static_cast<SizeBand>(band)) {
          const double deviation =
              std::sqrt(square(spread.latency * row.latency_slope) + wire * square(row.wire_slope) +
                        square(spread.shape) + square(kRepeatNoise));
          sample.push_back({.value = row.log_ratio / deviation, .weight = 1 / in_band});
        }
      }
    }
    add_gaussian(sample, kGaussianSystems);
    spread.quantiles[band] = {.low = quantile(sample, kTail), .high = quantile(sample, 1 - kTail)};
  }
}

}  // namespace

ScatteredTable scatter_of(const NcclTable& table, const NcclParameters& parameters) {
  constexpr double kStep = 0.02;
  ScatteredTable result = {.group = table.group,
                           .machine_class = table.machine_class(),
                           .log2_ranks = std::log2(table.rows.front().system.ranks),
                           .rows = {}};
  for (const NcclTable::Row& row : table.rows) {
    const auto log_time = [&](double latency, double wire) {
      return std::log(
          nccl_all_reduce(parameters, row.system, row.bytes, {.latency = latency, .wire = wire}).seconds);
    };
    result.rows.push_back({.log_ratio = std::log(row.seconds) - log_time(0, 0),
                           .latency_slope = (log_time(kStep, 0) - log_time(-kStep, 0)) / (2 * kStep),
                           .wire_slope = (log_time(0, kStep) - log_time(0, -kStep)) / (2 * kStep),
                           .log2_bytes = std::log2(row.bytes),
                           .band = size_band(row.bytes)});
  }
  return result;
}

std::array<NcclSpread, kNumMachineClasses> spreads_of(std::span<const ScatteredTable> tables) {
  std::array<NcclSpread, kNumMachineClasses> spreads;
  for (std::size_t i = 0; i < kNumMachineClasses; ++i) {
    std::vector<const ScatteredTable*> of_class;
    for (const ScatteredTable& table : tables) {
      if (table.machine_class == static_cast<MachineClass>(i)) {
        of_class.push_back(&table);
      }
    }
    if (of_class.empty()) {
      throw Error(ErrorKind::bad_input,
                  "no fair system of class " + std::string(name(static_cast<MachineClass>(i))));
    }
    spreads[i] = likeliest(of_class);
    set_quantiles(spreads[i], of_class);
  }
  return spreads;
}

}  // namespace ringside
