#include "schedule/program/policy.hpp"

#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedule/registry.hpp"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::IsSupersetOf;

constexpr ExecutionPolicy kWhole = {.receives_ahead = true};

/// The policy of an all_reduce of 4 ranks or as many as are named.
ExecutionPolicy policy_on(RankSite site, Bytes size, std::string_view algorithm = "ring", int num_ranks = 4) {
  const Schedule schedule(*find_algorithm(Collective::all_reduce, algorithm), {.num_ranks = num_ranks});
  return policy_for(schedule, size, rules_of(site));
}

TEST(Policy, RowsOfSitesStandInTheirPlaces) {
  for (const RankSiteRow& row : kRankSites) {
    EXPECT_EQ(&row, &kRankSites[static_cast<std::size_t>(row.site)]) << name(row.site);
  }
}

TEST(Policy, ADeviceTakesOneWholeRoundAfterAnother) {
  EXPECT_EQ(policy_on(RankSite::gpu, {64 << 20}), ExecutionPolicy());
}

TEST(Policy, CpusReceiveAheadAndLeaveChunksWholeWhereTheirCoresAreNotKnown) {
  EXPECT_EQ(policy_on(RankSite::cpu, {64 << 20}), kWhole);
}

TEST(Policy, CutsLongMessagesOnly) {
  EXPECT_EQ(policy_on(RankSite::own_core, {2 << 20}), kWhole) << "a chunk of 512 KiB";
  EXPECT_EQ(policy_on(RankSite::own_core, {16 << 20}),
            (ExecutionPolicy{.receives_ahead = true, .segments = 11, .stride = 4, .in_flight = 4}))
      << "a chunk of 4 MiB in segments of at most 384 KiB";
}

TEST(Policy, SegmentsAreLongerWhereRanksShareCores) {
  EXPECT_EQ(policy_on(RankSite::shared_cores, {2 << 20}), kWhole) << "a chunk of 512 KiB";
  EXPECT_EQ(policy_on(RankSite::shared_cores, {4 << 20}),
            (ExecutionPolicy{.receives_ahead = true, .segments = 2, .stride = 2, .in_flight = 2}));
  EXPECT_EQ(policy_on(RankSite::shared_cores, {16 << 20}),
            (ExecutionPolicy{.receives_ahead = true, .segments = 6, .stride = 6, .in_flight = 2}));
}

TEST(Policy, CutsSchedulesThatKeepAllLinksBusy) {
  std::set<std::string> cut;
  for (const std::string& algorithm : algorithm_names(Collective::all_reduce)) {
    if (policy_on(RankSite::own_core, {64 << 20}, algorithm).segments > 1) {
      cut.insert(algorithm);
    }
  }
  // Without nodes `hierarchical` is a ring. `naive`'s root receives, then sends; others change peers.
  EXPECT_THAT(cut, IsSupersetOf({"hierarchical", "pipelined_ring", "ring"}));
  for (const char* whole : {"naive", "tutorial_ring", "binomial_tree", "halving_doubling", "direct"}) {
    EXPECT_FALSE(cut.contains(whole)) << whole;
  }
  EXPECT_GT(policy_on(RankSite::own_core, {64 << 20}, "halving_doubling", 2).segments, 1)
      << "which is a ring";
}

TEST(Policy, NamesTheOrderOfTheSchedule) {
  const Schedule ring(*find_algorithm(Collective::all_reduce, "ring"), {.num_ranks = 3, .order = {0, 2, 1}});
  EXPECT_THAT(policy_for(ring, {12}, rules_of(RankSite::gpu)).order, ElementsAre(0, 2, 1));
}

TEST(Policy, ReadsAsOnePhrase) {
  EXPECT_EQ(describe(ExecutionPolicy{}), "receives posted with their round, whole chunks");
  EXPECT_EQ(describe(policy_on(RankSite::own_core, {16 << 20})),
            "receives posted ahead, each chunk in 11 segments, 4 in flight");
  EXPECT_EQ(describe(ExecutionPolicy{.order = {1, 0}}),
            "receives posted with their round, whole chunks, ranks in the order 1 0");
}

TEST(Policy, ASegmentMayBeAsLongAsTheRuleSays) {
  EXPECT_EQ(policy_on(RankSite::own_core, {16 * (384 << 10)}).segments, 4) << "a chunk of four times 384 KiB";
}

}  // namespace
}  // namespace ringside
