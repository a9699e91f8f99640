#include "analysis/comparison/verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analysis/points.hpp"

namespace ringside {
namespace {

using examples::kKiB;
using examples::points;
using testing::IsEmpty;
using testing::Optional;

std::string pair_of(const std::vector<Point>& all) {
  const std::optional<AlgorithmPair> pair = choose_pair(all);
  return pair ? pair->baseline + "/" + pair->candidate : "none";
}

TEST(ChoosePair, PrefersNaiveAndRingWhereverTheyStand) {
  EXPECT_EQ(pair_of(points({{.algorithm = "direct"}, {.algorithm = "ring"}, {.algorithm = "naive"}})),
            "naive/ring");
  EXPECT_EQ(pair_of(points({{.algorithm = "direct"}, {.algorithm = "ring"}})), "direct/ring");
}

TEST(ChoosePair, OtherwiseTakesTheFastestOtherAtTheLargestSize) {
  EXPECT_EQ(pair_of(points({{.algorithm = "naive", .bytes = 1, .measured_ms = 5},
                            {.algorithm = "direct", .bytes = 1, .measured_ms = 1},
                            {.algorithm = "binomial_tree", .bytes = 1, .measured_ms = 2},
                            {.algorithm = "naive", .bytes = 2, .measured_ms = 1},
                            {.algorithm = "direct", .bytes = 2, .measured_ms = 9},
                            {.algorithm = "binomial_tree", .bytes = 2, .measured_ms = 8}})),
            "naive/binomial_tree");
  EXPECT_EQ(pair_of(points({{.algorithm = "ring", .predicted_ms = 3},
                            {.algorithm = "tutorial_ring", .predicted_ms = 2},
                            {.algorithm = "direct", .predicted_ms = 1}})),
            "ring/direct");
}

TEST(ChoosePair, MeasuredTimesCountBeforePredictedOnes) {
  EXPECT_EQ(pair_of(points({{.algorithm = "naive", .predicted_ms = 9, .measured_ms = 9},
                            {.algorithm = "direct", .predicted_ms = 1, .measured_ms = 5},
                            {.algorithm = "binomial_tree", .predicted_ms = 2, .measured_ms = 4}})),
            "naive/binomial_tree");
}

TEST(ChoosePair, NeedsTwoAlgorithmsOfOurOwn) {
  EXPECT_EQ(pair_of({}), "none");
  EXPECT_EQ(pair_of(points({{.algorithm = "ring"}, {.algorithm = "native"}})), "none");
  EXPECT_EQ(pair_of(points({{.algorithm = "native"}, {.algorithm = "ring"}, {.algorithm = "direct"}})),
            "ring/direct")
      << "even when nothing has a time yet";
}

const AlgorithmPair kPair = {.baseline = "naive", .candidate = "ring"};

TEST(Verdicts, ASpeedupIsTheBaselinesTimeOverTheCandidates) {
  const auto records = verdicts(points({{.algorithm = "naive", .predicted_ms = 6, .measured_ms = 1},
                                        {.algorithm = "ring", .predicted_ms = 2, .measured_ms = 4}}),
                                kPair);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].ranks, 4);
  EXPECT_EQ(records[0].bytes, Bytes{examples::kMiB});
  EXPECT_THAT(records[0].predicted_speedup, Optional(testing::DoubleNear(3, 1e-12)));
  EXPECT_THAT(records[0].measured_speedup, Optional(testing::DoubleNear(0.25, 1e-12)));
  EXPECT_THAT(records[0].predicted_winner, Optional(std::string("ring")));
  EXPECT_THAT(records[0].measured_winner, Optional(std::string("naive")));
}

TEST(Verdicts, ATieHasNoWinner) {
  const auto records = verdicts(points({{.algorithm = "naive", .predicted_ms = 2, .measured_ms = 4},
                                        {.algorithm = "ring", .predicted_ms = 2, .measured_ms = 3.9}}),
                                kPair);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_TRUE(records[0].measured_speedup);
  EXPECT_EQ(records[0].predicted_winner, std::nullopt);
  EXPECT_EQ(records[0].measured_winner, std::nullopt);
}

TEST(Verdicts, AThirdAlgorithmCanWinButNativeCannot) {
  const auto records = verdicts(points({{.algorithm = "naive", .measured_ms = 6},
                                        {.algorithm = "ring", .measured_ms = 4},
                                        {.algorithm = "direct", .measured_ms = 3},
                                        {.algorithm = "native", .measured_ms = 1}}),
                                kPair);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_THAT(records[0].measured_winner, Optional(std::string("direct")));
  EXPECT_EQ(records[0].predicted_winner, std::nullopt);
  EXPECT_EQ(records[0].predicted_speedup, std::nullopt);
}

TEST(Verdicts, ComeSortedAndOnlyWhereThereIsSomethingToSay) {
  std::vector<Point> all = points({{.algorithm = "naive", .ranks = 4, .bytes = 2 * kKiB, .measured_ms = 6},
                                   {.algorithm = "ring", .ranks = 4, .bytes = 2 * kKiB, .measured_ms = 4},
                                   {.algorithm = "naive", .ranks = 4, .bytes = kKiB, .measured_ms = 6},
                                   {.algorithm = "ring", .ranks = 4, .bytes = kKiB, .measured_ms = 4},
                                   {.algorithm = "naive", .ranks = 2, .bytes = kKiB, .measured_ms = 6},
                                   {.algorithm = "ring", .ranks = 2, .bytes = kKiB, .measured_ms = 4},
                                   {.algorithm = "naive", .ranks = 8, .bytes = kKiB, .measured_ms = 6},
                                   {.algorithm = "ring", .ranks = 8, .bytes = kKiB},
                                   {.algorithm = "naive", .ranks = 1, .bytes = kKiB, .measured_ms = 6},
                                   {.algorithm = "ring", .ranks = 1, .bytes = kKiB, .measured_ms = 4}});
  all[7] = examples::without_time(all[7], Outcome::failed);
  std::vector<std::pair<int, std::int64_t>> order;
  for (const Verdict& record : verdicts(all, kPair)) {
    order.emplace_back(record.ranks, record.bytes.value);
  }
  EXPECT_THAT(order, testing::ElementsAre(std::pair(2, kKiB), std::pair(4, kKiB), std::pair(4, 2 * kKiB)));
  EXPECT_THAT(verdicts({}, kPair), IsEmpty());
}

}  // namespace
}  // namespace ringside
