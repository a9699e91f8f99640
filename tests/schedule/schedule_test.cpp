#include "schedule/schedule.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "requests.hpp"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Algorithm& ring() { return *find_algorithm(Collective::all_reduce, "ring"); }

/// The message with which the request is refused as bad input; empty when it is not.
std::string refusal(const Algorithm& algorithm, const ScheduleRequest& request) {
  try {
    const Schedule schedule(algorithm, request);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    return error.what();
  }
  return {};
}

TEST(Schedule, RefusesRequestsThatMakeNoSense) {
  EXPECT_THAT(refusal(ring(), {.num_ranks = 0}), HasSubstr("at least 1 rank, not 0"));
  EXPECT_THAT(refusal(ring(), {.num_ranks = 4, .root = 4}), HasSubstr("root 4 is not a rank"));
  EXPECT_THAT(refusal(ring(), {.num_ranks = 4, .root = -1}), HasSubstr("root -1 is not a rank"));
  EXPECT_THAT(refusal(ring(), {.num_ranks = 4, .ranks_per_node = -2}), HasSubstr("not -2"));
  EXPECT_THAT(refusal(ring(), {.num_ranks = 4, .segments = -1}), HasSubstr("not -1"));
}

TEST(Schedule, RefusesAnOrderThatIsNoPermutation) {
  EXPECT_THAT(refusal(ring(), {.num_ranks = 3, .order = {0, 1}}), HasSubstr("names 2 ranks but there are 3"));
  EXPECT_THAT(refusal(ring(), {.num_ranks = 3, .order = {0, 1, 1}}), HasSubstr("names rank 1 twice"));
  EXPECT_THAT(refusal(ring(), {.num_ranks = 3, .order = {0, 1, 3}}),
              HasSubstr("names rank 3, but ranks are 0 to 2"));
}

TEST(Schedule, RefusesWhatTheAlgorithmDoesNotSupport) {
  const auto all_reduce = [](const char* name) { return find_algorithm(Collective::all_reduce, name); };
  EXPECT_THAT(refusal(*all_reduce("hierarchical"), {.num_ranks = 6, .ranks_per_node = 4}),
              HasSubstr("6 ranks do not divide into nodes of 4"));
  EXPECT_EQ(refusal(*all_reduce("hierarchical"), {.num_ranks = 4, .ranks_per_node = 8}), "");
  EXPECT_THAT(refusal(*all_reduce("double_binary_tree"), {.num_ranks = 6, .segments = 1}),
              HasSubstr("at least 2 segments"));
  EXPECT_THAT(refusal(*all_reduce("pipelined_ring"), {.num_ranks = 1 << 16, .segments = 1 << 16}),
              HasSubstr("segments are too many"));
  EXPECT_THAT(refusal(*find_algorithm(Collective::all_gather, "neighbour_exchange"), {.num_ranks = 7}),
              HasSubstr("even number of ranks, not 7"));
}

TEST(Schedule, IsOfTheAlgorithmsCollectiveWhateverTheRequestSays) {
  const Schedule schedule(*find_algorithm(Collective::all_gather, "ring"), {.num_ranks = 3});
  EXPECT_EQ(schedule.request().collective, Collective::all_gather);
}

TEST(Schedule, OrderPlacesPositionsOnRanks) {
  const Schedule schedule(ring(), {.num_ranks = 3, .order = {2, 0, 1}});
  std::vector<Move> moves;
  schedule.write_round(0, moves);
  // Positions 0 → 1 → 2 → 0 send chunks 2, 0, 1.
  EXPECT_THAT(moves, ElementsAre(Move{.source = 2, .target = 0, .first_chunk = 2, .kind = MoveKind::reduce},
                                 Move{.source = 0, .target = 1, .first_chunk = 0, .kind = MoveKind::reduce},
                                 Move{.source = 1, .target = 2, .first_chunk = 1, .kind = MoveKind::reduce}));
}

TEST(Schedule, RootStaysRootInAnotherOrder) {
  const Schedule schedule(*find_algorithm(Collective::broadcast, "naive"),
                          {.num_ranks = 4, .root = 1, .order = {3, 1, 0, 2}});
  std::vector<Move> moves;
  schedule.write_round(0, moves);
  // After the root's position comes that of rank 0.
  EXPECT_THAT(moves, ElementsAre(Move{.source = 1, .target = 0}));
}

TEST(Schedule, ScatteredCollectivesRefuseAnyOrderButTheIdentity) {
  const Algorithm& all_gather = *find_algorithm(Collective::all_gather, "ring");
  EXPECT_THAT(refusal(all_gather, {.num_ranks = 3, .order = {1, 0, 2}}),
              HasSubstr("cannot run in another order of ranks"));
  EXPECT_EQ(refusal(all_gather, {.num_ranks = 3, .order = {0, 1, 2}}), "");
}

TEST(Schedule, WritesTheSameRoundEachTime) {
  for_each_schedule({{.num_ranks = 6}}, [](const Schedule& schedule) {
    std::vector<Move> once;
    std::vector<Move> again = {Move{}};
    for (std::int64_t round = 0; round < schedule.num_rounds(); ++round) {
      schedule.write_round(round, once);
      schedule.write_round(round, again);
      EXPECT_EQ(once, again) << label(schedule);
      EXPECT_FALSE(once.empty()) << label(schedule);
    }
  });
}

}  // namespace
}  // namespace ringside
