#include "analysis/comparison/comparison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analysis/points.hpp"

namespace ringside {
namespace {

using examples::kKiB;
using examples::points;
using testing::IsEmpty;
using testing::Optional;

TEST(BusBandwidth, IsWhatNcclTestsCallsIt) {
  const auto rate = [](Collective collective, int ranks) {
    return bus_bandwidth(collective, ranks, Bytes{1'000'000}, Seconds{1e-3});
  };
  EXPECT_THAT(rate(Collective::all_reduce, 4), Optional(BytesPerSecond{1.5e9}));
  EXPECT_THAT(rate(Collective::all_reduce, 2), Optional(BytesPerSecond{1e9}));
  EXPECT_THAT(rate(Collective::reduce_scatter, 4), Optional(BytesPerSecond{0.75e9}));
  EXPECT_THAT(rate(Collective::all_gather, 4), Optional(BytesPerSecond{0.75e9}));
  EXPECT_THAT(rate(Collective::gather, 4), Optional(BytesPerSecond{0.75e9}));
  EXPECT_THAT(rate(Collective::broadcast, 4), Optional(BytesPerSecond{1e9}));
  EXPECT_THAT(rate(Collective::reduce, 4), Optional(BytesPerSecond{1e9}));
}

TEST(BusBandwidth, DoesNotExistWhereNothingMovesOrNothingIsTimed) {
  for (const std::string& name : names_of<Collective>()) {
    EXPECT_EQ(bus_bandwidth(*parse_name<Collective>(name), 1, Bytes{8}, Seconds{1}), std::nullopt) << name;
  }
  EXPECT_EQ(bus_bandwidth(Collective::all_reduce, 4, Bytes{0}, Seconds{1}), std::nullopt);
  EXPECT_EQ(bus_bandwidth(Collective::all_reduce, 4, Bytes{8}, Seconds{0}), std::nullopt);
}

TEST(Comparison, IsSortedByRanksAndSizeAndKeepsTheOrderOfAlgorithms) {
  const auto rows = comparison(points({{.algorithm = "ring", .ranks = 4, .bytes = kKiB},
                                       {.algorithm = "naive", .ranks = 4, .bytes = kKiB},
                                       {.algorithm = "ring", .ranks = 2, .bytes = 2 * kKiB},
                                       {.algorithm = "naive", .ranks = 2, .bytes = 2 * kKiB},
                                       {.algorithm = "ring", .ranks = 2, .bytes = kKiB}}));
  std::vector<std::string> order;
  for (const ComparisonRow& row : rows) {
    order.push_back(std::to_string(row.key.ranks) + "/" + std::to_string(row.key.bytes.value) + "/" +
                    row.key.algorithm + (row.first_of_group ? " first" : ""));
  }
  EXPECT_THAT(order, testing::ElementsAre("2/1024/ring first", "2/2048/ring first", "2/2048/naive",
                                          "4/1024/ring first", "4/1024/naive"));
}

TEST(Comparison, ARowHasWhatIsKnownAndLeavesOutTheRest) {
  auto all = points({{.algorithm = "naive", .predicted_ms = 3, .measured_ms = 2},
                     {.algorithm = "ring", .predicted_ms = 1},
                     {.algorithm = "direct", .predicted_ms = 1}});
  all[2] = examples::without_time(all[2], Outcome::unsupported, "needs NCCL");
  const auto rows = comparison(all);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_THAT(rows[0].ratio, Optional(testing::DoubleNear(1.5, 1e-12)));
  EXPECT_NEAR(rows[0].measured_busbw.value().value, 1.5 * examples::kMiB / 2e-3, 1);
  EXPECT_NEAR(rows[0].predicted_busbw.value().value, 1.5 * examples::kMiB / 3e-3, 1);
  EXPECT_EQ(rows[1].ratio, std::nullopt);
  EXPECT_EQ(rows[1].measured_busbw, std::nullopt);
  EXPECT_EQ(rows[2].ratio, std::nullopt);
  EXPECT_EQ(rows[2].measured->note, "needs NCCL");
}

TEST(Comparison, MarksTheFastestOfOursByWhatWasMeasured) {
  const auto fastest = [](const std::vector<Point>& all) {
    std::string names;
    for (const ComparisonRow& row : comparison(all)) {
      names += row.fastest ? row.key.algorithm + " " : "";
    }
    return names;
  };
  EXPECT_EQ(fastest(points({{.algorithm = "naive", .predicted_ms = 1, .measured_ms = 2},
                            {.algorithm = "ring", .predicted_ms = 2, .measured_ms = 1},
                            {.algorithm = "native", .measured_ms = 0.1}})),
            "ring ");
  EXPECT_EQ(
      fastest(points({{.algorithm = "naive", .predicted_ms = 1}, {.algorithm = "ring", .predicted_ms = 2}})),
      "naive ");
  EXPECT_EQ(fastest(points({{.algorithm = "ring", .measured_ms = 2}})), "");
  EXPECT_EQ(fastest(points(
                {{.algorithm = "naive", .predicted_ms = 1.01}, {.algorithm = "ring", .predicted_ms = 1}})),
            "")
      << "no difference worth having";
  std::vector<Point> alone =
      points({{.algorithm = "naive", .measured_ms = 1}, {.algorithm = "ring", .measured_ms = 2}});
  for (Point& point : alone) {
    point.key.ranks = 1;
  }
  EXPECT_EQ(fastest(alone), "");
  EXPECT_THAT(comparison({}), IsEmpty());
}

TEST(Cells, AreOneForEachTypeOfData) {
  std::vector<Point> both = points({{.algorithm = "ring"}, {.algorithm = "naive"}});
  EXPECT_EQ(cells(both).size(), 1U);
  both[1].key.dtype = DataType::float64;
  EXPECT_EQ(cells(both).size(), 2U);
}

TEST(Timing, OfWhatFailedThereIsNone) {
  Point point = examples::point({.algorithm = "ring", .measured_ms = 2});
  EXPECT_TRUE(timing(point, Side::measured).has_value());
  point.measured->outcome = Outcome::failed;
  EXPECT_FALSE(timing(point, Side::measured).has_value());
}

TEST(Timing, AnIntervalFromZeroOnIsNone) {
  Point point = examples::point({.algorithm = "ring", .measured_ms = 2});
  point.measured->low = {1e-3};
  point.measured->high = {3e-3};
  EXPECT_EQ(timing(point, Side::measured)->low, 1e-3);
  point.measured->low = {0};
  EXPECT_EQ(timing(point, Side::measured)->low, 2e-3);
  EXPECT_EQ(timing(point, Side::measured)->high, 2e-3);
}

}  // namespace
}  // namespace ringside
