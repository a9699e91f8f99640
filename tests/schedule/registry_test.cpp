#include "schedule/registry.hpp"

#include <set>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "requests.hpp"

namespace ringside {
namespace {

using ::testing::IsSupersetOf;

TEST(Registry, NamesAreUniqueWithinACollectiveAndNeverNative) {
  std::set<std::pair<Collective, std::string_view>> seen;
  for (const Algorithm& algorithm : all_algorithms()) {
    EXPECT_TRUE(seen.emplace(algorithm.collective, algorithm.name).second) << algorithm.name;
    EXPECT_NE(algorithm.name, kNative);
  }
}

TEST(Registry, EveryRowIsComplete) {
  for (const Algorithm& algorithm : all_algorithms()) {
    EXPECT_NE(algorithm.name, "");
    EXPECT_NE(algorithm.summary, "") << algorithm.name;
    EXPECT_NE(algorithm.wins_when, "") << algorithm.name;
    EXPECT_NE(algorithm.outline, nullptr) << algorithm.name;
  }
}

TEST(Registry, FindsEveryAlgorithmByCollectiveAndName) {
  for (const Algorithm& algorithm : all_algorithms()) {
    EXPECT_EQ(find_algorithm(algorithm.collective, algorithm.name), &algorithm);
  }
  EXPECT_EQ(find_algorithm(Collective::all_reduce, "rng"), nullptr);
  EXPECT_EQ(find_algorithm(Collective::broadcast, "tutorial_ring"), nullptr);
  try {
    known_algorithm(Collective::all_reduce, "nativ");
    FAIL() << "it is none";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("did you mean 'native'?"));
  }
}

TEST(Registry, ListsTheAlgorithmsThatDesignPromises) {
  EXPECT_THAT(
      algorithm_names(Collective::all_reduce),
      IsSupersetOf({"naive", "tutorial_ring", "ring", "pipelined_ring", "binomial_tree", "double_binary_tree",
                    "recursive_doubling", "halving_doubling", "direct", "direct_two_shot", "hierarchical"}));
  for (const std::string& collective : names_of<Collective>()) {
    // There is one way to send a message to the next rank.
    EXPECT_GE(algorithm_names(*parse_name<Collective>(collective)).size(),
              collective == "send_recv" ? 1u : 3u)
        << collective;
  }
}

/// So that a test over all supported schedules does not pass because nothing is supported.
TEST(Registry, EveryAlgorithmSupportsPowersOfTwoAndEveryAllReduceAnyNumberOfRanks) {
  for (const Algorithm& algorithm : all_algorithms()) {
    for (int n = 1; n <= kMaxRanks; ++n) {
      const bool power_of_two = (n & (n - 1)) == 0;
      if (power_of_two || algorithm.collective == Collective::all_reduce) {
        EXPECT_TRUE(supported_schedule(algorithm, {.num_ranks = n}).has_value())
            << algorithm.name << ' ' << n;
      }
    }
  }
}

}  // namespace
}  // namespace ringside
