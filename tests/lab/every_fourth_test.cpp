#include "lab/evaluation/every_fourth.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

using testing::ElementsAre;
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

TEST(EveryFourth, AreThoseRowsAndTheLargest) {
  EXPECT_THAT(kibibytes(every_fourth(table(9))), ElementsAre(1, 16, 256));
  EXPECT_THAT(kibibytes(every_fourth(table(11))), ElementsAre(1, 16, 256, 1024));
  EXPECT_THAT(every_fourth(table(8)), IsEmpty());
  std::vector<Point> gathers = table(9);
  gathers.front().key.collective = Collective::all_gather;
  EXPECT_THAT(every_fourth(gathers), IsEmpty());
}

TEST(EveryFourth, LinesAreStraightOnLogarithmicAxes) {
  const std::vector<Point> points = table(9);
  const std::vector<EvaluatedPoint> lines = on_lines_between(points, every_fourth(points));
  ASSERT_EQ(lines.size(), 6U);
  for (const EvaluatedPoint& line : lines) {
    EXPECT_NEAR(line.predicted / line.measured, 1, 1e-12);
  }
}

}  // namespace
}  // namespace ringside
