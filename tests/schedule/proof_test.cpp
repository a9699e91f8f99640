#include "schedule/proof.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedule/registry.hpp"

namespace ringside {
namespace {

using ::testing::IsEmpty;

constexpr int kMaxRanks = 33;

TEST(Proof, HoldsForEveryAlgorithm) {
  for (const Algorithm& algorithm : all_algorithms()) {
    for (int n = 1; n <= kMaxRanks; ++n) {
      const Schedule schedule(algorithm, {.num_ranks = n});
      EXPECT_THAT(prove(schedule).faults, IsEmpty()) << algorithm.name << " with " << n << " ranks";
    }
  }
}

TEST(Proof, FindsThatTheSecondHalfOfTheTutorialRingIsRedundant) {
  const Proof proof =
      prove(Schedule(*find_algorithm(Collective::all_reduce, "tutorial_ring"), {.num_ranks = 4}));
  EXPECT_EQ(proof.first_redundant_tail_round, 6);
  EXPECT_EQ(proof.redundant.size(), 3u * 4u);
}

}  // namespace
}  // namespace ringside
