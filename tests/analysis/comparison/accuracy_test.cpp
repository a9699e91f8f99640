#include "analysis/comparison/accuracy.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analysis/points.hpp"

namespace ringside {
namespace {

using examples::kKiB;
using examples::point;
using examples::points;
using testing::IsEmpty;
using testing::Optional;

const Accuracy& of_all(const std::vector<Accuracy>& records) { return records.back(); }

TEST(Accuracy, NothingComesOfNothing) {
  EXPECT_THAT(accuracy({}), IsEmpty());
  EXPECT_THAT(accuracy(points({{.algorithm = "ring", .predicted_ms = 1}})), IsEmpty());
  EXPECT_THAT(accuracy(points({{.algorithm = "ring", .measured_ms = 1}})), IsEmpty());
  const std::vector<Point> failed = {
      examples::without_time(point({.algorithm = "ring", .predicted_ms = 1}), Outcome::failed)};
  EXPECT_THAT(accuracy(failed), IsEmpty());
  EXPECT_EQ(worst_prediction(failed), nullptr);
}

TEST(Accuracy, RanksThatShareAGpuAreNotComparedWithASpecification) {
  Point shared = point({.algorithm = "ring", .predicted_ms = 1, .measured_ms = 5});
  shared.measured->shared_gpu = true;
  shared.predicted->source = CostSource::spec;
  EXPECT_EQ(relative_error(shared), std::nullopt);
  shared.predicted->source = CostSource::calibrated;
  EXPECT_TRUE(relative_error(shared));
  shared.predicted->source = CostSource::spec;
  shared.measured->shared_gpu = false;
  EXPECT_TRUE(relative_error(shared));
}

TEST(Accuracy, WhatWasGivenIsNotScored) {
  std::vector<Point> both =
      points({{.algorithm = "native", .bytes = 1, .predicted_ms = 1, .measured_ms = 1},
              {.algorithm = "native", .bytes = 2, .predicted_ms = 3, .measured_ms = 2}});
  both[0].predicted->known = true;
  EXPECT_EQ(of_all(accuracy(both)).points, 1);
  EXPECT_NEAR(of_all(accuracy(both)).mape, 0.5, 1e-12);
  EXPECT_EQ(worst_prediction(both), &both[1]);
}

TEST(Accuracy, OneRecordForEachAlgorithmInOrderThenOneForAll) {
  const auto records = accuracy(points({{.algorithm = "ring", .predicted_ms = 1, .measured_ms = 1},
                                        {.algorithm = "naive", .predicted_ms = 1, .measured_ms = 1},
                                        {.algorithm = "direct", .predicted_ms = 1}}));
  ASSERT_EQ(records.size(), 3U);
  EXPECT_THAT(records[0].algorithm, Optional(std::string("ring")));
  EXPECT_THAT(records[1].algorithm, Optional(std::string("naive")));
  EXPECT_EQ(records[2].algorithm, std::nullopt);
  EXPECT_EQ(records[2].points, 2);
}

TEST(Accuracy, ErrorsAreRelativeToWhatWasMeasured) {
  // Errors of +50 %, −20 % and 0.
  const auto records =
      accuracy(points({{.algorithm = "ring", .bytes = 1, .predicted_ms = 3, .measured_ms = 2},
                       {.algorithm = "ring", .bytes = 2, .predicted_ms = 4, .measured_ms = 5},
                       {.algorithm = "ring", .bytes = 3, .predicted_ms = 7, .measured_ms = 7}}));
  EXPECT_EQ(of_all(records).points, 3);
  EXPECT_NEAR(of_all(records).mape, (0.5 + 0.2 + 0) / 3, 1e-12);
  EXPECT_NEAR(of_all(records).median_abs_error, 0.2, 1e-12);
  EXPECT_NEAR(of_all(records).bias, std::cbrt(1.5 * 0.8) - 1, 1e-12);
}

TEST(Accuracy, TwiceAndHalfAreNoBias) {
  const auto records =
      accuracy(points({{.algorithm = "ring", .bytes = 1, .predicted_ms = 2, .measured_ms = 1},
                       {.algorithm = "ring", .bytes = 2, .predicted_ms = 1, .measured_ms = 2}}));
  EXPECT_NEAR(of_all(records).bias, 0, 1e-12);
}

TEST(Accuracy, CoverageIsOfThePointsThatHaveAnInterval) {
  const Point inside = point({.algorithm = "ring", .bytes = 1, .predicted_ms = 2, .measured_ms = 1});
  const Point outside = point({.algorithm = "ring", .bytes = 2, .predicted_ms = 2, .measured_ms = 1});
  const Point at_the_edge = point({.algorithm = "ring", .bytes = 3, .predicted_ms = 2, .measured_ms = 1});
  const Point without = point({.algorithm = "naive", .bytes = 4, .predicted_ms = 2, .measured_ms = 1});
  const auto records = accuracy(std::vector<Point>{
      examples::with_predicted_interval(inside, 0.5, 3), examples::with_predicted_interval(outside, 1.5, 3),
      examples::with_predicted_interval(at_the_edge, 1, 3), without});
  EXPECT_THAT(records[0].coverage, Optional(testing::DoubleNear(2.0 / 3, 1e-12)));
  EXPECT_EQ(records[1].coverage, std::nullopt);
  EXPECT_THAT(of_all(records).coverage, Optional(testing::DoubleNear(2.0 / 3, 1e-12)));
}

TEST(Accuracy, TheWinnerAgreesWhereNothingMeasuredIsClearlyFaster) {
  const auto agreement = [](double ring_measured) {
    return of_all(accuracy(points({{.algorithm = "naive", .predicted_ms = 2, .measured_ms = 1},
                                   {.algorithm = "ring", .predicted_ms = 1, .measured_ms = ring_measured}})))
        .winner_agreement;
  };
  EXPECT_THAT(agreement(0.5), Optional(1.0));
  EXPECT_THAT(agreement(1.0), Optional(1.0)) << "a tie";
  EXPECT_THAT(agreement(1.09), Optional(1.0)) << "within ten percent";
  EXPECT_THAT(agreement(1.2), Optional(0.0));
}

TEST(Accuracy, OverlappingIntervalsAreATie) {
  std::vector<Point> cell = points({{.algorithm = "naive", .predicted_ms = 2, .measured_ms = 1},
                                    {.algorithm = "ring", .predicted_ms = 1, .measured_ms = 1.5}});
  EXPECT_THAT(of_all(accuracy(cell)).winner_agreement, Optional(0.0));
  cell[1] = examples::with_measured_interval(cell[1], 0.9, 2);
  EXPECT_THAT(of_all(accuracy(cell)).winner_agreement, Optional(1.0));
}

TEST(Accuracy, AgreementCountsForTheAlgorithmThatWasPredictedToWin) {
  const auto records =
      accuracy(points({{.algorithm = "naive", .bytes = kKiB, .predicted_ms = 1, .measured_ms = 1},
                       {.algorithm = "ring", .bytes = kKiB, .predicted_ms = 2, .measured_ms = 2},
                       {.algorithm = "naive", .bytes = 2 * kKiB, .predicted_ms = 1, .measured_ms = 2},
                       {.algorithm = "ring", .bytes = 2 * kKiB, .predicted_ms = 2, .measured_ms = 1},
                       {.algorithm = "naive", .bytes = 3 * kKiB, .predicted_ms = 1, .measured_ms = 1},
                       {.algorithm = "ring", .bytes = 3 * kKiB, .predicted_ms = 2, .measured_ms = 2}}));
  EXPECT_THAT(records[0].winner_agreement, Optional(testing::DoubleNear(2.0 / 3, 1e-12)));
  EXPECT_EQ(records[1].winner_agreement, std::nullopt) << "ring was never predicted to win";
  EXPECT_THAT(of_all(records).winner_agreement, Optional(testing::DoubleNear(2.0 / 3, 1e-12)));
}

TEST(Accuracy, NativeAndOneRankAndLoneAlgorithmsHaveNoWinner) {
  EXPECT_EQ(of_all(accuracy(points({{.algorithm = "native", .predicted_ms = 1, .measured_ms = 9},
                                    {.algorithm = "ring", .predicted_ms = 2, .measured_ms = 2}})))
                .winner_agreement,
            std::nullopt);
  EXPECT_EQ(of_all(accuracy(points({{.algorithm = "naive", .ranks = 1, .predicted_ms = 1, .measured_ms = 9},
                                    {.algorithm = "ring", .ranks = 1, .predicted_ms = 2, .measured_ms = 2}})))
                .winner_agreement,
            std::nullopt);
  // The predicted winner failed: there is nothing to agree with.
  std::vector<Point> cell = points({{.algorithm = "naive", .predicted_ms = 1},
                                    {.algorithm = "ring", .predicted_ms = 2, .measured_ms = 2}});
  cell[0] = examples::without_time(cell[0], Outcome::failed);
  EXPECT_EQ(of_all(accuracy(cell)).winner_agreement, std::nullopt);
}

TEST(Accuracy, APredictionOfNothingIsNotCompared) {
  // One rank alone is predicted as 0 seconds; there is no ratio.
  EXPECT_THAT(accuracy(points({{.algorithm = "ring", .ranks = 1, .predicted_ms = 0, .measured_ms = 1}})),
              IsEmpty());
}

TEST(Accuracy, TheWorstPredictionIsTheFarthestByItsFactor) {
  const std::vector<Point> both =
      points({{.algorithm = "naive", .predicted_ms = 1.8, .measured_ms = 1},   // +80 %
              {.algorithm = "ring", .predicted_ms = 1, .measured_ms = 2.5}});  // −60 %, but 2.5 times
  EXPECT_EQ(worst_prediction(both), &both[1]);
}

}  // namespace
}  // namespace ringside
