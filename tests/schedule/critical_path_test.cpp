#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "reference_replay.hpp"
#include "requests.hpp"

namespace ringside {
namespace {

double closed_form(const CriticalPath& path, const Costs& costs) {
  return costs.alpha * path.messages + costs.beta * path.bytes + costs.gamma * path.reduced_bytes;
}

void expect_closed_form_equals_replay(const Schedule& schedule, const std::vector<Costs>& all_costs) {
  for (const Costs& costs : all_costs) {
    const double replayed = reference_replay(schedule, costs);
    EXPECT_NEAR(closed_form(schedule.critical_path(), costs), replayed, 1e-9 * replayed)
        << label(schedule) << ", alpha " << costs.alpha << ", beta " << costs.beta << ", gamma "
        << costs.gamma;
  }
}

/// Pipelined algorithms assume that reducing is at least twice as fast as sending, and say so.
TEST(CriticalPath, EqualsTheReplayWhereReducingIsFast) {
  const std::vector<Costs> costs = {{1, 0, 0},     {0, 1, 0},      {0, 1, 0.5},       {1, 1, 0},
                                    {1, 1, 0.125}, {0.01, 1, 0.5}, {1e-5, 3e-3, 7e-4}};
  for_each_schedule(typical_requests(),
                    [&](const Schedule& schedule) { expect_closed_form_equals_replay(schedule, costs); });
}

/// Without slices there is nothing to hide behind, and the closed form holds for any costs.
TEST(CriticalPath, EqualsTheReplayForAnyCostsWithoutSlices) {
  const std::vector<Costs> costs = {{0, 0, 1}, {1, 0, 1}, {0, 1, 10}, {1, 1, 1}, {1, 0.1, 7}};
  std::vector<ScheduleRequest> requests;
  for (int n = 1; n <= kMaxRanks; ++n) {
    requests.push_back({.num_ranks = n, .slices = 1});
  }
  for_each_schedule(requests,
                    [&](const Schedule& schedule) { expect_closed_form_equals_replay(schedule, costs); });
}

TEST(CriticalPath, DoesNotDependOnTheOrderOfRanks) {
  for (const Algorithm& algorithm : all_algorithms()) {
    for (const int n : {2, 5, 8}) {
      std::vector<Rank> reversed(static_cast<std::size_t>(n));
      std::generate(reversed.begin(), reversed.end(), [rank = n]() mutable { return --rank; });
      const std::optional<Schedule> plain = supported_schedule(algorithm, {.num_ranks = n});
      if (!plain || algorithm.collective == Collective::gather ||
          algorithm.collective == Collective::all_gather ||
          algorithm.collective == Collective::reduce_scatter) {
        continue;
      }
      const Schedule schedule(algorithm, {.num_ranks = n, .order = reversed});
      expect_closed_form_equals_replay(schedule, {{1, 2, 0.5}});
      EXPECT_EQ(schedule.critical_path().bytes, plain->critical_path().bytes) << label(schedule);
    }
  }
}

}  // namespace
}  // namespace ringside
