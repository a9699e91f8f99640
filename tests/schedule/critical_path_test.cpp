#include <cstdint>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "reference_replay.hpp"
#include "requests.hpp"
#include "schedule/schedule.hpp"

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
  const std::vector<Costs> costs = {{1, 0, 0}, {0, 1, 0.5}, {1, 1, 0}, {1e-5, 3e-3, 7e-4}};
  for_each_schedule(plain_requests(),
                    [&](const Schedule& schedule) { expect_closed_form_equals_replay(schedule, costs); });
}

TEST(CriticalPath, EqualsTheReplayForOtherRootsSegmentsAndNodes) {
  const std::vector<Costs> costs = {{1, 0, 0}, {0, 1, 0.5}, {1, 1, 0.25}};
  for_each_schedule(unusual_requests(),
                    [&](const Schedule& schedule) { expect_closed_form_equals_replay(schedule, costs); });
}

/// Without segments there is nothing to hide behind, and the closed form holds for any costs.
TEST(CriticalPath, EqualsTheReplayForAnyCostsWithoutSegments) {
  const std::vector<Costs> costs = {{0, 0, 1}, {1, 0.1, 7}};
  std::vector<ScheduleRequest> requests = plain_requests();
  for (ScheduleRequest& request : requests) {
    request.segments = 1;
  }
  for_each_schedule(requests,
                    [&](const Schedule& schedule) { expect_closed_form_equals_replay(schedule, costs); });
}

TEST(CriticalPath, DoesNotDependOnTheOrderOfRanks) {
  for (const int n : {2, 5, 8}) {
    for (const std::vector<Rank>& order : unusual_orders(n)) {
      for_each_schedule({{.num_ranks = n}}, [&](const Schedule& plain) {
        if (scattered(plain.algorithm().collective)) {
          return;
        }
        const Schedule ordered(plain.algorithm(), {.num_ranks = n, .order = order});
        expect_closed_form_equals_replay(ordered, {{1, 2, 0.5}});
      });
    }
  }
}

/// Whether a round of the schedule has a rank send, or receive, two messages.
bool sends_several(const Schedule& schedule) {
  std::vector<Move> moves;
  for (std::int64_t round = 0; round < schedule.num_rounds(); ++round) {
    schedule.write_round(round, moves);
    std::set<Rank> sources;
    std::set<Rank> targets;
    for (const Move& move : moves) {
      if (!move.local() && (!sources.insert(move.source).second || !targets.insert(move.target).second)) {
        return true;
      }
    }
  }
  return false;
}

TEST(SeveralAtOnce, IsSaidOfTheAlgorithmsWhoseRoundsHaveIt) {
  for_each_schedule(plain_requests(), [](const Schedule& schedule) {
    EXPECT_EQ(schedule.several_at_once(), sends_several(schedule)) << label(schedule);
  });
  // With few segments a tree may get by with one at a time.
  for_each_schedule(unusual_requests(), [](const Schedule& schedule) {
    EXPECT_TRUE(schedule.several_at_once() || !sends_several(schedule)) << label(schedule);
  });
}

}  // namespace
}  // namespace ringside
