#include "schedule/proof.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "requests.hpp"
#include "schedule/registry.hpp"

namespace ringside {
namespace {

using ::testing::IsEmpty;

TEST(Proof, HoldsForEveryAlgorithm) {
  for_each_schedule(typical_requests(), [](const Schedule& schedule) {
    EXPECT_THAT(prove(schedule).faults, IsEmpty()) << label(schedule);
  });
}

TEST(Proof, FindsThatTheSecondHalfOfTheTutorialRingIsRedundant) {
  const Proof proof =
      prove(Schedule(*find_algorithm(Collective::all_reduce, "tutorial_ring"), {.num_ranks = 4}));
  EXPECT_EQ(proof.first_redundant_tail_round, 6);
  EXPECT_EQ(proof.redundant.size(), 3u * 4u);
}

}  // namespace
}  // namespace ringside
