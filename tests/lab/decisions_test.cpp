#include "lab/planning/decisions.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace ringside {
namespace {

TEST(Decisions, AreWrongAtPricesBetweenTheForetoldAndThePublishedRelation) {
  // The other machine promises twice the rate and is published to be 2.4 times as fast.
  const DecisionScores scores =
      decision_scores_of({{.work = "w", .machine = "slow", .planned = 2.4, .published = 2.4, .by_sheet = 2},
                          {.work = "w", .machine = "fast", .planned = 1, .published = 1, .by_sheet = 1}});
  EXPECT_EQ(scores.pairs, 1U);
  EXPECT_DOUBLE_EQ(scores.planned.right, 1);
  EXPECT_NEAR(scores.planned.regret, 0, 1e-12);
  EXPECT_NEAR(scores.by_sheet.relation, 1.2, 1e-12);
  EXPECT_NEAR(scores.by_sheet.right, 1 - std::log(1.2) / std::log(4), 1e-12);
  EXPECT_NEAR(scores.by_sheet.regret, (0.2 - std::log(1.2)) / std::log(4), 1e-12);
}

TEST(Decisions, BeyondAllPricesCostWhatTheMachineIsSlower) {
  // Three times as slow as promised is cheaper at no price; whoever trusts data sheets errs at half of them.
  const DecisionScores scores =
      decision_scores_of({{.work = "w", .machine = "slow", .planned = 3, .published = 3, .by_sheet = 1},
                          {.work = "w", .machine = "fast", .planned = 1, .published = 1, .by_sheet = 1}});
  EXPECT_DOUBLE_EQ(scores.planned.right, 1);
  EXPECT_NEAR(scores.by_sheet.right, 0.5, 1e-12);
  EXPECT_NEAR(scores.by_sheet.regret, (1.5 - std::log(2)) / std::log(4), 1e-12);
}

TEST(Decisions, AreBetweenMachinesThatDoTheSameWork) {
  const DecisionScores scores = decision_scores_of(
      {{.work = "w", .machine = "a"}, {.work = "w", .machine = "a"}, {.work = "v", .machine = "b"}});
  EXPECT_EQ(scores.pairs, 0U);
}

}  // namespace
}  // namespace ringside
