#include "lab/nccl/nccl_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>

#include <ceres/ceres.h>
#include <fmt/format.h>

#include "common/error.hpp"
#include "lab/evaluation/fnv1a.hpp"
#include "lab/nccl/nccl_meanings.hpp"
#include "lab/nccl/nccl_scatter.hpp"
#include "sim/nccl/model.hpp"

namespace ringside {

namespace {

/// Where a residual stops to count as its square.
constexpr double kRobust = 0.2;
/// Weight of a parameter's guess against the measurements.
constexpr double kGuessWeight = 0.3;

constexpr int kNum = static_cast<int>(kNumNcclParameters);

NcclParameters from_logarithms(const double* logarithms) {
  NcclParameters parameters;
  std::transform(logarithms, logarithms + kNum, parameters.values.begin(),
                 [](double x) { return std::exp(x); });
  return parameters;
}

/// 2(√r − 1) of one row.
class RowCost final : public ceres::SizedCostFunction<1, kNum> {
 public:
  explicit RowCost(const NcclTable::Row& row) : row_(row) {}

  bool Evaluate(double const* const* blocks, double* residuals, double** jacobians) const override {
    NcclParameters parameters = from_logarithms(blocks[0]);
    residuals[0] = residual(parameters);
    if (jacobians != nullptr && jacobians[0] != nullptr) {
      constexpr double kStep = 1e-5;
      for (std::size_t i = 0; i < kNumNcclParameters; ++i) {
        const double kept = parameters.values[i];
        parameters.values[i] = kept * std::exp(kStep);
        jacobians[0][i] = (residual(parameters) - residuals[0]) / kStep;
        parameters.values[i] = kept;
      }
    }
    return true;
  }

 private:
  double residual(const NcclParameters& parameters) const {
    return 2 * (std::sqrt(nccl_all_reduce(parameters, row_.system, row_.bytes).seconds / row_.seconds) - 1);
  }

  const NcclTable::Row& row_;
};

/// How far the logarithms are from their guesses, in their spreads.
class GuessCost final : public ceres::SizedCostFunction<kNum, kNum> {
 public:
  bool Evaluate(double const* const* blocks, double* residuals, double** jacobians) const override {
    const auto meanings = nccl_parameter_meanings();
    for (std::size_t i = 0; i < kNumNcclParameters; ++i) {
      const double weight = kGuessWeight / meanings[i].spread;
      residuals[i] = weight * (blocks[0][i] - std::log(meanings[i].guess));
      if (jacobians != nullptr && jacobians[0] != nullptr) {
        std::fill_n(jacobians[0] + i * kNumNcclParameters, kNumNcclParameters, 0.0);
        jacobians[0][i * kNumNcclParameters + i] = weight;
      }
    }
    return true;
  }
};

struct Solution {
  NcclParameters parameters;
  double cost = std::numeric_limits<double>::infinity();
};

Solution solve_from(std::span<const NcclTable> tables, const NcclParameters& start) {
  std::array<double, kNumNcclParameters> logarithms = {};
  std::transform(start.values.begin(), start.values.end(), logarithms.begin(),
                 [](double x) { return std::log(x); });
  std::map<std::pair<std::string, MachineClass>, int> alike;
  for (const NcclTable& table : tables) {
    ++alike[{table.group, table.machine_class()}];
  }
  ceres::Problem problem;
  for (const NcclTable& table : tables) {
    const double weight = 1 / (static_cast<double>(table.rows.size()) *
                               std::sqrt(alike.at({table.group, table.machine_class()})));
    for (const NcclTable::Row& row : table.rows) {
      problem.AddResidualBlock(
          new RowCost(row),
          new ceres::ScaledLoss(new ceres::SoftLOneLoss(kRobust), weight, ceres::TAKE_OWNERSHIP),
          logarithms.data());
    }
  }
  problem.AddResidualBlock(new GuessCost, nullptr, logarithms.data());

  ceres::Solver::Options options;
  options.linear_solver_type = ceres::DENSE_NORMAL_CHOLESKY;
  options.max_num_iterations = 60;
  options.function_tolerance = 1e-6;
  options.num_threads = 1;  // One order of summing, so the same bits.
  options.logging_type = ceres::SILENT;
  ceres::Solver::Summary summary;
  ceres::Solve(options, &problem, &summary);
  if (!summary.IsSolutionUsable()) {
    throw Error(ErrorKind::failed, fmt::format("the fit of NCCL's behaviour failed: {}", summary.message));
  }
  return {.parameters = from_logarithms(logarithms.data()), .cost = summary.final_cost};
}

/// A point around the guesses, at a third of their spreads.
NcclParameters scattered(std::mt19937_64& random) {
  NcclParameters start = nccl_guesses();
  const auto meanings = nccl_parameter_meanings();
  for (std::size_t i = 0; i < kNumNcclParameters; ++i) {
    // Uniform by hand: the library's distributions differ between implementations.
    const double uniform = 2 * (static_cast<double>(random() >> 11) * 0x1p-53) - 1;
    start.values[i] *= std::exp(uniform * meanings[i].spread / 3);
  }
  return start;
}

template <typename Holds>
std::vector<NcclTable> without(std::span<const NcclTable> tables, Holds holds) {
  std::vector<NcclTable> rest;
  std::copy_if(tables.begin(), tables.end(), std::back_inserter(rest),
               [&](const NcclTable& table) { return !holds(table); });
  return rest;
}

}  // namespace

std::string hash_of(std::span<const NcclTable> tables) {
  Fnv1a hash;
  for (const NcclTable& table : tables) {
    hash.add(table.name);
    hash.add(table.group);
    for (const NcclTable::Row& row : table.rows) {
      hash.add(static_cast<std::uint64_t>(row.system.ranks));
      hash.add(row.bytes);
      hash.add(row.seconds);
    }
  }
  return hash.digits();
}

NcclParameters fit_nccl_parameters(std::span<const NcclTable> tables, const NcclFitOptions& options) {
  std::mt19937_64 random(options.seed);
  Solution best = solve_from(tables, nccl_guesses());
  for (int start = 1; start < options.starts; ++start) {
    const Solution solution = solve_from(tables, scattered(random));
    // Ends that are equal but for rounding must not depend on it.
    if (solution.cost < best.cost * (1 - 1e-6)) {
      best = solution;
    }
  }
  return best.parameters;
}

std::string generation_group(const NcclSystem& system) {
  return fmt::format("generation {}", name(system.architecture));
}

NcclStudy study_nccl(std::span<const NcclTable> tables, const NcclFitOptions& options,
                     const std::function<void(const std::string&)>& progress) {
  NcclStudy study;
  std::set<std::string> groups;
  int points = 0;
  for (const NcclTable& table : tables) {
    groups.insert(table.group);
    points += static_cast<int>(table.rows.size());
  }
  progress("fitting all systems");
  study.all.parameters = fit_nccl_parameters(tables, options);
  study.all.data_hash = hash_of(tables);
  study.all.systems = static_cast<int>(tables.size());
  study.all.points = points;
  study.all.groups.assign(groups.begin(), groups.end());

  std::vector<ScatteredTable> scattered_tables;
  for (const std::string& group : groups) {
    progress(fmt::format("holding out {}", group));
    NcclStudy::Fold fold{.group = group, .fit = {}};
    const auto held_out = [&](const NcclTable& table) { return table.group == group; };
    fold.fit.parameters = solve_from(without(tables, held_out), nccl_guesses()).parameters;
    for (const NcclTable& table : tables) {
      if (held_out(table)) {
        scattered_tables.push_back(scatter_of(table, fold.fit.parameters));
      }
    }
    study.held_out.push_back(std::move(fold));
  }

  progress("estimating the spread");
  study.all.spreads = spreads_of(scattered_tables);
  for (NcclStudy::Fold& fold : study.held_out) {
    std::vector<ScatteredTable> others;
    std::copy_if(scattered_tables.begin(), scattered_tables.end(), std::back_inserter(others),
                 [&](const ScatteredTable& table) { return table.group != fold.group; });
    fold.fit.spreads = spreads_of(others);
  }

  std::set<std::string> generations;
  for (const NcclTable& table : tables) {
    generations.insert(generation_group(table.rows.front().system));
  }
  for (const std::string& generation : generations) {
    progress(fmt::format("holding out {}", generation));
    NcclStudy::Fold fold{.group = generation, .fit = study.all};
    const std::vector<NcclTable> others = without(tables, [&](const NcclTable& table) {
      return generation_group(table.rows.front().system) == generation;
    });
    fold.fit.parameters = solve_from(others, nccl_guesses()).parameters;
    study.held_out.push_back(std::move(fold));
  }
  return study;
}

}  // namespace ringside
