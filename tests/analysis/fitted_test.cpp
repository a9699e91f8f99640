#include "analysis/fitted.hpp"

#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Point point(std::int64_t bytes, double predicted, double measured) {
  Point result;
  result.key.algorithm = "ring";
  result.key.ranks = 4;
  result.key.bytes = {bytes};
  result.predicted.emplace().seconds = {predicted};
  result.measured.emplace().seconds = {measured};
  return result;
}

TEST(Fitted, FindsTheLineThroughTheMeasurements) {
  // 1 ms + S / (1 GB/s), and predictions that are half of it.
  std::vector<Point> points;
  for (const std::int64_t bytes : {1'000, 1'000'000, 100'000'000}) {
    const double seconds = 1e-3 + static_cast<double>(bytes) * 1e-9;
    points.push_back(point(bytes, seconds / 2, seconds));
  }
  const std::vector<FittedCurve> curves = fitted_curves(points);
  ASSERT_EQ(curves.size(), 1U);
  EXPECT_NEAR(curves[0].latency.value, 1e-3, 1e-12);
  EXPECT_NEAR(curves[0].inverse_bandwidth.value, 1e-9, 1e-18);
  EXPECT_NEAR(curves[0].at({2'000'000}).value, 3e-3, 1e-12);
  EXPECT_NEAR(curves[0].error, 0, 1e-9);
  EXPECT_NEAR(curves[0].predicted_error, 0.5, 1e-9);
  EXPECT_THAT(fitted_sentences(curves),
              ElementsAre(HasSubstr("ring on 4 ranks: 1 ms + S ÷ (1 GB/s) would be off by 0 %")));
}

TEST(Fitted, TheOrderOfSizesDoesNotMatter) {
  std::vector<Point> points;
  for (const auto& [bytes, seconds] :
       {std::pair{1'000, 1e-3}, std::pair{1'000'000, 3e-3}, std::pair{10'000'000, 8e-3}}) {
    points.push_back(point(bytes, seconds, seconds));
  }
  const FittedCurve ascending = fitted_curves(points).at(0);
  std::swap(points[0], points[2]);
  const FittedCurve descending = fitted_curves(points).at(0);
  EXPECT_EQ(descending.latency, ascending.latency);
  EXPECT_EQ(descending.inverse_bandwidth, ascending.inverse_bandwidth);
}

TEST(Fitted, NeedsThreeSizesWithBoth) {
  std::vector<Point> points = {point(1000, 1, 1), point(2000, 2, 2), point(4000, 4, 4)};
  points.back().measured->outcome = Outcome::failed;
  EXPECT_TRUE(fitted_curves(points).empty());
}

}  // namespace
}  // namespace ringside
