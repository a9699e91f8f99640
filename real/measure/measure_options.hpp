#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "common/units.hpp"
#include "real/launch/launch_options.hpp"
#include "results/measurement.hpp"
#include "results/point_key.hpp"
#include "schedule/placement.hpp"

namespace ringside {

struct MeasureOptions {
  LaunchOptions launch = {};
  Seconds budget_per_point{1.0};  ///< Timed iterations of one point stop here …
  double target_interval =
      kMeasuredInterval;  ///< … or when the 95 % interval of the median is this narrow, relative.
  int repetitions = 1;    ///< How often all points are gone through, each time with a part of the budget.
  /// What an earlier run measured: it counts as the first repetitions, and only those that are missing are
  /// made. A point that is here with another outcome than `ok` is not measured.
  std::map<PointKey, Measurement> earlier = {};
  /// Only the first so many repetitions are made now; none: all. Each keeps its budget.
  std::optional<int> repetitions_now = {};
  int min_iterations = 5;  ///< In all repetitions together, rounded up in each.
  int max_iterations = 10'000;
  /// Whether every result is compared with what it must be, outside the timer, or only the last one.
  bool check_every_call = true;
  std::uint64_t seed = 1;  ///< Seed of the input values.
  /// By number of ranks; where there is none, the ranks stand in one node and in order.
  std::map<int, RankPlacement> placements = {};

  RankPlacement placement_of(int num_ranks) const {
    const auto known = placements.find(num_ranks);
    return known == placements.end() ? RankPlacement{} : known->second;
  }
};

}  // namespace ringside
