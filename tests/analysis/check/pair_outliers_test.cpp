#include "analysis/check/pair_outliers.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

/// Every pair of `nodes` nodes a, b, c, …; each 1 or 2 % more or less, those of a slow node so much longer.
std::vector<PairRun> fleet(int nodes, const std::string& slow = "", double slowdown = 1.5) {
  std::vector<PairRun> runs;
  for (int i = 0; i < nodes; ++i) {
    for (int j = i + 1; j < nodes; ++j) {
      PairRun run{.first = std::string(1, static_cast<char>('a' + i)),
                  .second = std::string(1, static_cast<char>('a' + j)),
                  .ratio = 1.3 * (1 + 0.01 * ((3 * i + 5 * j) % 5 - 2))};
      if (slow.find(run.first) != std::string::npos || slow.find(run.second) != std::string::npos) {
        run.ratio *= slowdown;
      }
      runs.push_back(run);
    }
  }
  return runs;
}

std::string names_of(const PairOutliers& outliers) {
  std::string names;
  for (const PairOutliers::Node& node : outliers.nodes) {
    names += node.name;
  }
  return names;
}

TEST(PairOutliers, AFleetThatIsAlikeHasNone) {
  const PairOutliers outliers = pair_outliers(fleet(8));
  EXPECT_THAT(outliers.nodes, IsEmpty());
  EXPECT_THAT(outliers.pairs, IsEmpty());
}

TEST(PairOutliers, ANodeThatIsSlowInEachOfItsPairsIsNamed) {
  const PairOutliers outliers = pair_outliers(fleet(8, "c"));
  ASSERT_EQ(names_of(outliers), "c");
  EXPECT_EQ(outliers.nodes[0].pairs, 7);
  EXPECT_NEAR(outliers.nodes[0].slowdown, 1.5, 0.03);
  EXPECT_THAT(outliers.pairs, IsEmpty());
}

TEST(PairOutliers, TwoSlowNodesDoNotHideEachOther) {
  EXPECT_THAT(names_of(pair_outliers(fleet(8, "bf"))), testing::AnyOf("bf", "fb"));
  EXPECT_THAT(pair_outliers(fleet(12, "bfk")).nodes, SizeIs(3));
}

TEST(PairOutliers, OneSlowPairIsNoSlowNode) {
  std::vector<PairRun> runs = fleet(8);
  runs[9].ratio *= 2;
  const PairOutliers outliers = pair_outliers(runs);
  EXPECT_THAT(outliers.nodes, IsEmpty());
  ASSERT_THAT(outliers.pairs, SizeIs(1));
  EXPECT_EQ(outliers.pairs[0].run.first, runs[9].first);
  EXPECT_EQ(outliers.pairs[0].run.second, runs[9].second);
  EXPECT_NEAR(outliers.pairs[0].slowdown, 2, 0.05);
}

TEST(PairOutliers, ANodeSeenInOnePairIsNotJudgedByIt) {
  std::vector<PairRun> runs = fleet(8);
  runs.push_back({.first = "a", .second = "z", .ratio = 3});
  const PairOutliers outliers = pair_outliers(runs);
  EXPECT_THAT(outliers.nodes, IsEmpty());
  EXPECT_THAT(outliers.pairs, SizeIs(1));
}

TEST(PairOutliers, WhatRepeatingDiffersByIsNoOutlier) {
  EXPECT_THAT(pair_outliers(fleet(8, "c", 1.02)).nodes, IsEmpty());
}

TEST(PairOutliers, FewPairsTellNothing) {
  EXPECT_THAT(pair_outliers({}).nodes, IsEmpty());
  const std::vector<PairRun> two = {{.first = "a", .second = "b", .ratio = 1},
                                    {.first = "a", .second = "c", .ratio = 9}};
  const PairOutliers outliers = pair_outliers(two);
  EXPECT_THAT(outliers.nodes, IsEmpty());
  EXPECT_THAT(outliers.pairs, IsEmpty());
}

TEST(PairOutliers, TwoPairsDoNotSayWhatIsHealthy) {
  const std::vector<PairRun> runs = {{.first = "a", .second = "b", .ratio = 1},
                                     {.first = "c", .second = "d", .ratio = 1},
                                     {.first = "s", .second = "a", .ratio = 9},
                                     {.first = "s", .second = "b", .ratio = 9},
                                     {.first = "s", .second = "c", .ratio = 9}};
  EXPECT_THAT(pair_outliers(runs).nodes, IsEmpty());
}

TEST(PairOutliers, PairsThatVaryAnywayHaveToBeFarOff) {
  // Ratios 10 % apart: a Gaussian of 15 % has that median distance from its middle.
  const auto pairs_with = [](double logarithm) {
    std::vector<PairRun> runs;
    for (int i = 0; i < 30; ++i) {
      runs.push_back({.first = std::to_string(2 * i),
                      .second = std::to_string(2 * i + 1),
                      .ratio = std::exp(0.1 * (i % 3 - 1))});
    }
    runs.push_back({.first = "x", .second = "y", .ratio = std::exp(logarithm)});
    return pair_outliers(runs).pairs;
  };
  EXPECT_THAT(pairs_with(0.42), IsEmpty());
  EXPECT_THAT(pairs_with(0.7), SizeIs(1));
}

TEST(PairOutliers, OfManyNodesSomeLookSlowByChance) {
  // A ring of nodes, of which one is slow in both of its pairs: it tells among ten, not among 200.
  const auto slow_of = [](int nodes) {
    std::vector<PairRun> runs;
    for (int i = 0; i < nodes; ++i) {
      runs.push_back({.first = std::to_string(i),
                      .second = std::to_string((i + 1) % nodes),
                      .ratio = i < 2 ? 1.5 : 1 + 0.001 * (i % 3)});
    }
    return pair_outliers(runs).nodes;
  };
  EXPECT_THAT(slow_of(10), SizeIs(1));
  EXPECT_THAT(slow_of(200), IsEmpty());
}

}  // namespace
}  // namespace ringside
