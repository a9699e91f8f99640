#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/evaluation/evaluation.hpp"
#include "sim/nccl/system.hpp"

/// What the systems that are off by more than their class should be have in common.
namespace ringside {

struct MissGoal {
  std::string what;
  std::string_view machine_class;  ///< As in Accuracy.
  double goal = 0;                 ///< Mean error of a system; a fraction.
  EvaluatedModel model = EvaluatedModel::ringside;
  std::string_view band = "all";
  bool of_coverage =
      false;  ///< The goal is the least share of a system's measurements inside its intervals instead.
};

/// What of a system's description may be behind an error, in words: `GPUs of hopper`, `one GPU per node`.
std::vector<std::string> traits_of(const NcclSystem& system);

/// A Markdown table: per class how many systems miss the goal, in which band of sizes they are furthest off (where the goal is of all), and the
/// traits that are commoner among them than among the rest. Without the excluded.
std::string misses(const AccuracyReport& report, std::span<const MissGoal> goals,
                   std::string_view who = "systems above it");

/// The same of systems with too few measurements inside their 90 % intervals, for each of these classes or transports, and each band of sizes,
/// that has fewer than 86 % in the median.
std::string misses_of_coverage(const AccuracyReport& report, std::span<const std::string_view> parts);

}  // namespace ringside
