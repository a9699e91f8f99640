#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/comparison/speedup_grid.hpp"
#include "analysis/comparison/verdict.hpp"
#include "tests/analysis/points.hpp"

namespace ringside {
namespace {

using examples::kKiB;
using examples::points;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

const AlgorithmPair kCrossing = {.baseline = "naive", .candidate = "ring"};

struct Times {
  double naive;
  double ring;
};

/// Sizes 1 KiB, 2 KiB, 4 KiB …, measured.
Crossover measured(const std::vector<Times>& times) {
  std::vector<Point> all;
  std::int64_t bytes = kKiB;
  for (const Times& at : times) {
    all.push_back(examples::point({.algorithm = "naive", .bytes = bytes, .measured_ms = at.naive}));
    all.push_back(examples::point({.algorithm = "ring", .bytes = bytes, .measured_ms = at.ring}));
    bytes *= 2;
  }
  const std::vector<Crossover> found = crossovers(all, kCrossing);
  EXPECT_EQ(found.size(), 1U);
  return found.at(0);
}

TEST(Crossover, NothingComesOfNothing) {
  EXPECT_THAT(crossovers({}, kCrossing), IsEmpty());
  EXPECT_THAT(crossovers(points({{.algorithm = "ring", .measured_ms = 1}}), kCrossing), IsEmpty());
  EXPECT_THAT(crossovers(points({{.algorithm = "naive", .ranks = 1, .measured_ms = 1},
                                 {.algorithm = "ring", .ranks = 1, .measured_ms = 2}}),
                         kCrossing),
              IsEmpty());
}

TEST(Crossover, LiesWhereTheLinesOfALogLogPlotMeet) {
  // Speedups 1/2 at 1 KiB and 4 at 2 KiB: a third of the way, on a logarithmic axis.
  const Crossover found = measured({{1, 2}, {4, 1}});
  EXPECT_THAT(found.measured_bytes, Optional(Bytes{std::llround(1024 * std::pow(2.0, 1.0 / 3))}));
  EXPECT_THAT(found.measured_crossings, Optional(1));
  EXPECT_THAT(found.measured_winner, Optional(std::string("ring")));
  EXPECT_EQ(found.predicted_bytes, std::nullopt);
  EXPECT_EQ(found.predicted_crossings, std::nullopt);
  EXPECT_EQ(found.predicted_winner, std::nullopt);
}

TEST(Crossover, IsExactForPowerLaws) {
  // naive = S², ring = 2^24·S^(1/2) cross at S = 2^16.
  std::vector<Point> all;
  for (const std::int64_t bytes : {std::int64_t{1} << 10, std::int64_t{1} << 20}) {
    const auto size = static_cast<double>(bytes);
    all.push_back(examples::point({.algorithm = "naive", .bytes = bytes, .predicted_ms = size * size}));
    all.push_back(examples::point(
        {.algorithm = "ring", .bytes = bytes, .predicted_ms = std::ldexp(std::sqrt(size), 24)}));
  }
  EXPECT_THAT(crossovers(all, kCrossing).at(0).predicted_bytes, Optional(Bytes{1 << 16}));
}

TEST(Crossover, WithoutOneSaysWhoWinsThroughout) {
  const Crossover found = measured({{1, 2}, {1, 2}, {1, 3}});
  EXPECT_EQ(found.measured_bytes, std::nullopt);
  EXPECT_THAT(found.measured_crossings, Optional(0));
  EXPECT_THAT(found.measured_winner, Optional(std::string("naive")));
}

TEST(Crossover, OfSeveralTheLastCounts) {
  const Crossover found = measured({{2, 1}, {1, 2}, {2, 1}, {1, 2}});
  EXPECT_THAT(found.measured_crossings, Optional(3));
  EXPECT_THAT(found.measured_bytes, Optional(Bytes{std::llround(4096 * std::sqrt(2.0))}));
  EXPECT_THAT(found.measured_winner, Optional(std::string("naive")));
}

TEST(Crossover, OneSizeHasNoneToCount) {
  const Crossover found = measured({{2, 1}});
  EXPECT_EQ(found.measured_crossings, std::nullopt);
  EXPECT_EQ(found.measured_bytes, std::nullopt);
  EXPECT_THAT(found.measured_winner, Optional(std::string("ring")));
}

TEST(Crossover, CurvesThatMeetAtASizeCrossThereOnlyIfTheySwap) {
  EXPECT_THAT(measured({{1, 8}, {1, 1}, {2, 1}}).measured_bytes, Optional(Bytes{2 * kKiB}));
  const Crossover later = measured({{1, 2}, {1, 1}, {1, 2}, {2, 1}});
  EXPECT_THAT(later.measured_bytes, Optional(Bytes{std::llround(4096 * std::sqrt(2.0))}));
  EXPECT_THAT(measured({{1, 2}, {1, 1}, {1, 2}}).measured_crossings, Optional(0));
  const Crossover equal = measured({{1, 1}, {2, 2}});
  EXPECT_THAT(equal.measured_crossings, Optional(0));
  EXPECT_EQ(equal.measured_winner, std::nullopt);
}

TEST(Crossover, HasNoWinnerWhereTheLastSizeHasNone) {
  const Crossover close = measured({{1, 2}, {1.03, 1}});
  EXPECT_TRUE(close.measured_bytes);
  EXPECT_EQ(close.measured_winner, std::nullopt);
  std::vector<Point> all = points({{.algorithm = "naive", .bytes = 1024, .measured_ms = 1},
                                   {.algorithm = "ring", .bytes = 1024, .measured_ms = 2},
                                   {.algorithm = "naive", .bytes = 2048, .measured_ms = 3},
                                   {.algorithm = "ring", .bytes = 2048, .measured_ms = 2}});
  EXPECT_THAT(crossovers(all, kCrossing).at(0).measured_winner, Optional(std::string("ring")));
  all[3].measured->high = {4e-3};
  EXPECT_EQ(crossovers(all, kCrossing).at(0).measured_winner, std::nullopt) << "their intervals overlap";
}

TEST(Crossover, SizesThatFailedAreSteppedOver) {
  std::vector<Point> all = points({{.algorithm = "naive", .bytes = 1024, .measured_ms = 1},
                                   {.algorithm = "ring", .bytes = 1024, .measured_ms = 2},
                                   {.algorithm = "naive", .bytes = 2048, .measured_ms = 1},
                                   {.algorithm = "ring", .bytes = 2048},
                                   {.algorithm = "naive", .bytes = 4096, .measured_ms = 2},
                                   {.algorithm = "ring", .bytes = 4096, .measured_ms = 1}});
  all[3] = examples::without_time(all[3], Outcome::wrong_result);
  EXPECT_THAT(crossovers(all, kCrossing).at(0).measured_bytes, Optional(Bytes{2048}));
}

TEST(Crossover, EveryNumberOfRanksHasItsOwnAndSizesComeInAnyOrder) {
  const std::vector<Crossover> found =
      crossovers(points({{.algorithm = "ring", .ranks = 8, .bytes = 4096, .predicted_ms = 1},
                         {.algorithm = "naive", .ranks = 8, .bytes = 4096, .predicted_ms = 2},
                         {.algorithm = "naive", .ranks = 8, .bytes = 1024, .predicted_ms = 1},
                         {.algorithm = "ring", .ranks = 8, .bytes = 1024, .predicted_ms = 2},
                         {.algorithm = "naive", .ranks = 2, .bytes = 0, .predicted_ms = 1},
                         {.algorithm = "ring", .ranks = 2, .bytes = 0, .predicted_ms = 2},
                         {.algorithm = "naive", .ranks = 2, .bytes = 1024, .predicted_ms = 2},
                         {.algorithm = "ring", .ranks = 2, .bytes = 1024, .predicted_ms = 1}}),
                 kCrossing);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].ranks, 2);
  EXPECT_EQ(found[0].predicted_crossings, std::nullopt) << "a message of no bytes has no place on the axis";
  EXPECT_EQ(found[1].ranks, 8);
  EXPECT_THAT(found[1].predicted_bytes, Optional(Bytes{2048}));
}

/// Naive against ring on private links of 1 us and 1 GB/s.
SpeedupGrid grid_of(const Scenario& scenario, const std::string& machine,
                    const std::vector<Point>& runs = {}) {
  return speedup_grid(scenario, parse_machine(machine, "test"), runs, kCrossing);
}

Scenario scenario_of(const std::vector<int>& ranks, const std::vector<Bytes>& sizes) {
  Scenario scenario;
  scenario.ranks = ranks;
  scenario.message_sizes = sizes;
  return scenario;
}

const char* const kCustom = "intra: {kind: custom, latency: 1 us, bandwidth: 1 GB/s}";

TEST(SpeedupGrid, HasTheRanksThatTheMachineHolds) {
  const Scenario scenario = scenario_of({16, 1, 8, 2, 4, 9}, {Bytes{4096}});
  const auto ranks = [&](const std::string& keys) {
    return grid_of(scenario, fmt::format("{{{}, {}}}", kCustom, keys)).ranks;
  };
  const std::string network = "inter: {kind: infiniband, rate: 100 Gb/s, nics: 1}";
  EXPECT_THAT(grid_of(scenario, fmt::format("{{{}}}", kCustom)).ranks, ElementsAre(2, 4, 8, 9, 16));
  EXPECT_THAT(ranks("gpus_per_node: 8"), ElementsAre(2, 4, 8));
  EXPECT_THAT(ranks("gpus_per_node: 8, nodes: 2, " + network), ElementsAre(2, 4, 8, 9, 16));
  Machine half =
      parse_machine(fmt::format("{{{}, gpus_per_node: 8, nodes: 2, {}}}", kCustom, network), "test");
  half.ranks_per_node = 4;
  EXPECT_THAT(speedup_grid(scenario, half, {}, kCrossing).ranks, ElementsAre(2, 4, 8));
  EXPECT_THAT(
      grid_of(scenario, "{gpu: {model: V100-SXM2-16GB}, intra: {kind: nvlink, wiring: hybrid_cube_mesh}}")
          .ranks,
      ElementsAre(2, 4, 8));
}

TEST(SpeedupGrid, ReachesFourTimesBeyondTheSizesOfTheScenario) {
  const std::string machine = fmt::format("{{{}}}", kCustom);
  Scenario scenario = scenario_of({2}, {{16'384}, {40'000}});
  EXPECT_THAT(grid_of(scenario, machine).sizes,
              ElementsAre(Bytes{4096}, Bytes{8192}, Bytes{16'384}, Bytes{32'768}, Bytes{40'000},
                          Bytes{65'536}, Bytes{131'072}));
  scenario.message_sizes = {Bytes{1024}};
  EXPECT_THAT(grid_of(scenario, machine).sizes, ElementsAre(Bytes{1024}, Bytes{2048}, Bytes{4096}));
  scenario.message_sizes = {Bytes{4LL << 30}};
  EXPECT_EQ(grid_of(scenario, machine).sizes.back(), Bytes{4LL << 30}) << "no more than 4 GiB";
  EXPECT_EQ(grid_of(scenario, machine).sizes.front(), Bytes{1LL << 30});
}

TEST(SpeedupGrid, IsTheTimeOfTheBaselineOverThatOfTheCandidate) {
  const Scenario scenario = scenario_of({4, 2}, {Bytes{1 << 20}});
  const std::vector<Point> runs =
      points({{.algorithm = "naive", .ranks = 4, .bytes = 1 << 20, .measured_ms = 3},
              {.algorithm = "ring", .ranks = 4, .bytes = 1 << 20, .measured_ms = 2}});
  const SpeedupGrid grid = grid_of(scenario, fmt::format("{{{}}}", kCustom), runs);
  EXPECT_EQ(grid.baseline, "naive");
  EXPECT_EQ(grid.candidate, "ring");
  ASSERT_EQ(grid.speedup.size(), 2U);
  ASSERT_EQ(grid.speedup[1].size(), grid.sizes.size());
  // 2(n−1) messages of S one after another against as many of S/n.
  const double alpha = 1e-6;
  const double whole = 1e-9 * (1 << 20);
  EXPECT_NEAR(grid.speedup[0][2], (alpha + whole) / (alpha + whole / 2), 1e-6);
  EXPECT_NEAR(grid.speedup[1][2], (alpha + whole) / (alpha + whole / 4), 1e-6);
  ASSERT_EQ(grid.measured.size(), 1U);
  EXPECT_EQ(grid.measured[0].ranks, 4);
  EXPECT_EQ(grid.measured[0].bytes, Bytes{1 << 20});
  EXPECT_DOUBLE_EQ(grid.measured[0].speedup, 1.5);
}

}  // namespace
}  // namespace ringside
