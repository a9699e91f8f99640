#include "analysis/evaluation/told_every_fourth.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<Point> table(int rows) {
  std::vector<Point> points;
  for (int i = 0; i < rows; ++i) {
    Point point;
    point.key = {.algorithm = "native", .ranks = 2, .bytes = {std::int64_t{1024} << i}};
    point.measured = Measurement{.seconds = {1e-6 * (1 << i)}};
    points.push_back(point);
  }
  return points;
}

std::vector<std::int64_t> kibibytes(const std::vector<Point>& points) {
  std::vector<std::int64_t> sizes;
  for (const Point& point : points) {
    sizes.push_back(point.key.bytes.value / 1024);
  }
  return sizes;
}

TEST(ToldEveryFourth, AreThoseRowsAndTheLargest) {
  EXPECT_THAT(kibibytes(every_fourth(table(9))), ElementsAre(1, 16, 256));
  EXPECT_THAT(kibibytes(every_fourth(table(11))), ElementsAre(1, 16, 256, 1024));
  EXPECT_THAT(every_fourth(table(8)), IsEmpty());
  std::vector<Point> gathers = table(9);
  gathers.front().key.collective = Collective::all_gather;
  EXPECT_THAT(every_fourth(gathers), IsEmpty());
}

TEST(ToldEveryFourth, LinesAreStraightOnLogarithmicAxes) {
  const std::vector<Point> points = table(9);
  const std::vector<EvaluatedPoint> lines = on_lines_between(points, every_fourth(points));
  ASSERT_EQ(lines.size(), 6U);
  for (const EvaluatedPoint& line : lines) {
    EXPECT_NEAR(line.predicted / line.measured, 1, 1e-12);
  }
}

TEST(ToldEveryFourth, CountsTheSystemsOnWhichOursIsNotWorse) {
  const auto record = [](EvaluatedModel model, double error) {
    Accuracy accuracy;
    accuracy.band = "all";
    accuracy.model = std::string(name(model));
    accuracy.fold = std::string(name(Fold::held_out));
    accuracy.mape = error;
    return accuracy;
  };
  AccuracyReport report;
  for (const double ours : {0.02, 0.045, 0.2}) {
    EvaluatedSystem system;
    system.records = {record(EvaluatedModel::ringside_every4, ours),
                      record(EvaluatedModel::line_every4, 0.04)};
    report.systems.push_back(system);
  }
  EXPECT_THAT(told_every_fourth(report), HasSubstr("| all | 3 | 4.5 | 4.0 | 1 | 1 |"));
}

}  // namespace
}  // namespace ringside
