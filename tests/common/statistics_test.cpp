#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "common/error.hpp"
#include "common/numbers.hpp"

namespace ringside {
namespace {

/// n, n−1, …, 1.
std::vector<double> numbers(int n) {
  std::vector<double> result(static_cast<std::size_t>(n));
  std::iota(result.rbegin(), result.rend(), 1.0);
  return result;
}

TEST(Statistics, OfOneSampleAreThatSample) {
  const SampleSummary summary = summarize(std::vector{3.0});
  EXPECT_EQ(summary.median, 3);
  EXPECT_EQ(summary.low, 3);
  EXPECT_EQ(summary.high, 3);
  EXPECT_EQ(summary.p95, 3);
}

TEST(Statistics, MedianOfAnEvenNumberIsTheMiddle) {
  EXPECT_EQ(summarize(std::vector{4.0, 1.0, 2.0, 100.0}).median, 3);
}

TEST(Statistics, FewSamplesHaveTheWholeRangeAsInterval) {
  for (int n = 2; n <= 8; ++n) {
    const SampleSummary summary = summarize(numbers(n));
    EXPECT_EQ(summary.low, 1) << n;
    EXPECT_EQ(summary.high, n) << n;
  }
}

/// Ranks of the 95 % interval of the median as tables of the sign test give them.
TEST(Statistics, IntervalOfTheMedianIsThatOfTheTables) {
  struct Row {
    int n;
    int low;
    int high;
  };
  for (const Row row : {Row{9, 2, 8}, Row{12, 3, 10}, Row{20, 6, 15}, Row{25, 8, 18}, Row{50, 18, 33},
                        Row{100, 40, 61}, Row{1000, 469, 532}}) {
    const SampleSummary summary = summarize(numbers(row.n));
    EXPECT_EQ(summary.low, row.low) << row.n;
    EXPECT_EQ(summary.high, row.high) << row.n;
  }
}

/// P(X < low) + P(X >= high) for X ~ Binomial(n, 1/2), summed from Pascal's triangle.
TEST(Statistics, IntervalCoversAtLeast95PercentAndNotAStepMore) {
  for (int n = kMinSamplesOfInterval; n <= 60; ++n) {
    std::vector<double> row = {1};
    for (int i = 0; i < n; ++i) {
      std::vector<double> next(row.size() + 1, 0);
      for (std::size_t k = 0; k < row.size(); ++k) {
        next[k] += row[k] / 2;
        next[k + 1] += row[k] / 2;
      }
      row = next;
    }
    const auto low = static_cast<int>(summarize(numbers(n)).low);
    const double outside = 2 * std::accumulate(row.begin(), row.begin() + low, 0.0);
    EXPECT_LE(outside, 0.05) << n;
    EXPECT_GT(outside + 2 * row[static_cast<std::size_t>(low)], 0.05) << n;
  }
}

TEST(Statistics, NinetyFivePercentAreNotAboveP95) {
  EXPECT_EQ(summarize(numbers(100)).p95, 95);
  EXPECT_EQ(summarize(numbers(10)).p95, 10);
  EXPECT_EQ(summarize(numbers(21)).p95, 20);
}

TEST(Statistics, TheLeastNeedNotComeFirst) {
  const std::vector<double> samples = {3, 1, 2};
  EXPECT_EQ(summarize(samples).min, 1);
}

TEST(Statistics, ThereIsNoMedianOfNothing) { EXPECT_THROW(summarize({}), Bug); }

}  // namespace
}  // namespace ringside
