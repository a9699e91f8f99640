// 400 lines: one made-up machine, probed and fitted in every way.
#include "analysis/fit.hpp"

#include <cmath>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"

namespace ringside {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A machine that behaves as the model says, but for noise.
struct Planted {
  double alpha = 12e-6;
  double beta = 1 / 4.7e9;
  double gamma = 0.11e-9;
  double noise = 0.05;        ///< Standard deviation of the logarithm of a repetition.
  double outlier_share = 0;   ///< Share of repetitions …
  double outlier_factor = 5;  ///< … that take this many times as long.
  int repetitions = 31;
};

class PlantedProbes {
 public:
  PlantedProbes(const Planted& planted, std::uint64_t seed) : planted_(planted), random_(seed) {}

  ProbeSample sample(ProbeKind kind, int ranks, std::int64_t bytes, double seconds) {
    ProbeSample result = {.key = {.kind = kind, .ranks = ranks, .bytes = {bytes}}, .seconds = {}};
    for (int i = 0; i < planted_.repetitions; ++i) {
      const bool outlier = uniform_(random_) < planted_.outlier_share;
      result.seconds.push_back(seconds * std::exp(planted_.noise * normal_(random_)) *
                               (outlier ? planted_.outlier_factor : 1));
    }
    return result;
  }

  ProbeSample ping_pong(std::int64_t bytes) {
    return sample(ProbeKind::ping_pong, 2, bytes,
                  planted_.alpha + planted_.beta * static_cast<double>(bytes));
  }
  ProbeSample reduction(std::int64_t bytes, int ranks = 1) {
    return sample(ProbeKind::reduction, ranks, bytes, planted_.gamma * static_cast<double>(bytes));
  }

  /// 8 B … 64 MiB.
  std::vector<ProbeSample> all() {
    std::vector<ProbeSample> result;
    for (std::int64_t bytes = 8; bytes <= (std::int64_t{64} << 20); bytes *= 2) {
      result.push_back(ping_pong(bytes));
      result.push_back(reduction(bytes));
    }
    return result;
  }

 private:
  Planted planted_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
};

std::vector<CurvePoint> points(const Calibrated& calibrated, ProbeKind kind, int ranks = 2) {
  const Curve* curve = find_curve(calibrated.curves, kind, ranks);
  return curve == nullptr ? std::vector<CurvePoint>{} : curve->points;
}

bool covers(const std::optional<Interval<double>>& interval, double value) {
  return interval && interval->low <= value && value <= interval->high;
}

TEST(Fit, FindsThePlantedCostsExactlyWithoutNoise) {
  const Planted planted = {.noise = 0};
  const Calibrated found = fit_probes(PlantedProbes(planted, 1).all());
  EXPECT_NEAR(found.latency.value, planted.alpha, 1e-9 * planted.alpha);
  EXPECT_NEAR(found.bandwidth.value, 1 / planted.beta, 1e-9 / planted.beta);
  EXPECT_NEAR(found.reduction.value, planted.gamma, 1e-12 * planted.gamma);
}

TEST(Fit, TheStatedIntervalsCoverThePlantedCostsAsOftenAsTheySay) {
  const Planted planted;
  constexpr int kSeeds = 400;
  int alpha = 0;
  int beta = 0;
  int gamma = 0;
  double widest = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const Calibrated found = fit_probes(PlantedProbes(planted, static_cast<std::uint64_t>(seed)).all());
    alpha += covers(found.latency_interval, planted.alpha) ? 1 : 0;
    beta += covers(found.bandwidth_interval, 1 / planted.beta) ? 1 : 0;
    gamma += covers(found.reduction_interval, planted.gamma) ? 1 : 0;
    for (const auto& interval :
         {found.latency_interval, found.bandwidth_interval, found.reduction_interval}) {
      widest = std::max(widest, (interval->high - interval->low) / interval->typical);
    }
  }
  // 95 % ± three standard deviations of a count over 400 seeds.
  for (const int covered : {alpha, beta, gamma}) {
    EXPECT_GE(covered, kSeeds * 0.917);
    EXPECT_LE(covered, kSeeds * 0.983);
  }
  EXPECT_LT(widest, 0.05) << "an interval that covers because it says nothing";
}

TEST(Fit, InterruptedRepetitionsCountForNothing) {
  // Means would be 40 % too long.
  const Planted planted = {.outlier_share = 0.1};
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Calibrated found = fit_probes(PlantedProbes(planted, seed).all());
    EXPECT_NEAR(found.latency.value, planted.alpha, 0.05 * planted.alpha);
    EXPECT_NEAR(found.bandwidth.value, 1 / planted.beta, 0.05 / planted.beta);
    EXPECT_NEAR(found.reduction.value, planted.gamma, 0.05 * planted.gamma);
  }
}

TEST(Fit, SmallMessagesCountAsMuchAsLargeOnes) {
  // Ordinary least squares would sacrifice the 12 us of the small ones to the percent of the large ones.
  std::vector<ProbeSample> probes;
  for (const std::int64_t bytes : {8, 64, 512}) {
    probes.push_back({.key = {.bytes = {bytes}}, .seconds = {12e-6}});
  }
  for (const std::int64_t bytes : {std::int64_t{16} << 20, std::int64_t{64} << 20}) {
    const double crooked = bytes > (std::int64_t{16} << 20) ? 1.1 : 0.9;
    probes.push_back({.key = {.bytes = {bytes}}, .seconds = {crooked * static_cast<double>(bytes) / 5e9}});
  }
  EXPECT_NEAR(fit_probes(probes).latency.value, 12e-6, 0.1e-6);
}

TEST(Fit, SizesOffTheLineDoNotBendIt) {
  // A token bucket lets three sizes pass before it charges for them, as in a link lab of 400 Mb/s.
  std::vector<ProbeSample> probes;
  for (std::int64_t bytes = 8; bytes <= std::int64_t{8} << 20; bytes *= 4) {
    const bool free = bytes >= 2048 && bytes <= 32768;
    probes.push_back({.key = {.bytes = {bytes}},
                      .seconds = {60e-6 + (free ? 0.5 : 1.0) * static_cast<double>(bytes) / 49e6}});
  }
  const Calibrated found = fit_probes(probes);
  EXPECT_NEAR(found.latency.value, 60e-6, 1e-9);
  EXPECT_NEAR(found.bandwidth.value, 49e6, 1e3);
}

TEST(Fit, NeitherCostIsEverNegative) {
  // Steeper than proportional: a straight line would start below zero.
  const std::vector<ProbeSample> steep = {{.key = {.bytes = {1000}}, .seconds = {1e-6}},
                                          {.key = {.bytes = {2000}}, .seconds = {4e-6}},
                                          {.key = {.bytes = {4000}}, .seconds = {16e-6}}};
  const Calibrated found = fit_probes(steep);
  EXPECT_EQ(found.latency.value, 0);
  EXPECT_GT(found.bandwidth.value, 0);
  ASSERT_TRUE(found.latency_interval.has_value());
  EXPECT_EQ(found.latency_interval->low, 0);
  EXPECT_GT(found.latency_interval->high, 0);
}

TEST(Fit, WhatDoesNotCostMorePerByteIsRefused) {
  const std::vector<ProbeSample> falling = {{.key = {.bytes = {1000}}, .seconds = {5e-6}},
                                            {.key = {.bytes = {2000}}, .seconds = {4e-6}},
                                            {.key = {.bytes = {4096}}, .seconds = {3e-6}}};
  try {
    fit_probes(falling);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::failed);
    EXPECT_THAT(error.what(), HasSubstr("4 KiB"));
  }
}

TEST(Fit, TooFewSizesAreRefused) {
  EXPECT_THROW(fit_probes({}), Error);
  const std::vector<ProbeSample> one = {
      {.key = {.bytes = {1000}}, .seconds = {5e-6, 6e-6}},
      {.key = {.kind = ProbeKind::stream, .bytes = {9000}}, .seconds = {5e-6}}};
  EXPECT_THROW(fit_probes(one), Error);
}

TEST(Fit, AProbeThatTookNoTimeIsABug) {
  const std::vector<ProbeSample> probes = {{.key = {.bytes = {1000}}, .seconds = {0}},
                                           {.key = {.bytes = {2000}}, .seconds = {1e-6}}};
  EXPECT_THROW(fit_probes(probes), Bug);
}

TEST(Fit, TwoSizesHaveCostsButNoInterval) {
  const std::vector<ProbeSample> probes = {{.key = {.bytes = {1000}}, .seconds = {11e-6}},
                                           {.key = {.bytes = {2000}}, .seconds = {12e-6}}};
  const Calibrated found = fit_probes(probes);
  EXPECT_NEAR(found.latency.value, 10e-6, 1e-15);
  EXPECT_NEAR(found.bandwidth.value, 1e9, 1);
  EXPECT_FALSE(found.latency_interval.has_value());
  EXPECT_FALSE(found.bandwidth_interval.has_value());
}

TEST(Fit, WhereTheBandwidthCannotBeToldItHasNoInterval) {
  const std::vector<ProbeSample> probes = {{.key = {.bytes = {8}}, .seconds = {10e-6}},
                                           {.key = {.bytes = {64}}, .seconds = {12e-6}},
                                           {.key = {.bytes = {128}}, .seconds = {11e-6}}};
  const Calibrated found = fit_probes(probes);
  EXPECT_GT(found.bandwidth.value, 0);
  EXPECT_TRUE(found.latency_interval.has_value());
  EXPECT_FALSE(found.bandwidth_interval.has_value());
}

/// What ranks 0 and 4 of nodes of four find, where `messages` of a node travel at once at full bandwidth.
std::vector<ProbeSample> between_nodes(double alpha, double beta, double messages) {
  std::vector<ProbeSample> samples;
  for (std::int64_t bytes = 8; bytes <= (1 << 24); bytes *= 8) {
    samples.push_back(
        {.key = {.bytes = {bytes}, .second = 4}, .seconds = {alpha + beta * static_cast<double>(bytes)}});
  }
  for (const std::int64_t bytes : {1 << 22, 1 << 24}) {
    samples.push_back(
        {.key = {.kind = ProbeKind::neighbour_exchange, .ranks = 8, .bytes = {bytes}, .second = 4},
         .seconds = {alpha + 4 / messages * beta * static_cast<double>(bytes)}});
  }
  return samples;
}

TEST(Fit, LinksWithinANodeAndBetweenTwoAreToldApart) {
  const Planted planted = {.noise = 0};
  const Calibrated alone = fit_probes(PlantedProbes(planted, 1).all());
  EXPECT_FALSE(alone.between_nodes);
  for (const int messages : {1, 2, 4}) {
    std::vector<ProbeSample> samples = PlantedProbes(planted, 1).all();
    const std::vector<ProbeSample> between = between_nodes(50e-6, 1 / 1.2e9, messages);
    samples.insert(samples.end(), between.begin(), between.end());
    Calibrated found = fit_probes(samples);
    ASSERT_TRUE(found.between_nodes);
    EXPECT_NEAR(found.between_nodes->latency.value, 50e-6, 1e-12);
    EXPECT_NEAR(found.between_nodes->bandwidth.value, 1.2e9, 1);
    EXPECT_EQ(found.between_nodes->messages, messages);
    found.between_nodes.reset();
    EXPECT_EQ(found, alone) << "what was probed within a node";
  }
}

TEST(Fit, ExchangesAsTheLibrarySendsAreToldBesideOurs) {
  std::vector<ProbeSample> samples = PlantedProbes({.noise = 0}, 1).all();
  const std::vector<ProbeSample> between = between_nodes(50e-6, 1 / 1.2e9, 1);
  samples.insert(samples.end(), between.begin(), between.end());
  EXPECT_EQ(fit_probes(samples).between_nodes->native_exchange, 1);
  EXPECT_FALSE(fit_probes(samples).between_nodes->native_exchange_interval);
  const double ours = 4 * (1 << 20) / 1.2e9;  // Four ranks share the link.
  samples.push_back(
      {.key = {.kind = ProbeKind::native_exchange, .ranks = 8, .bytes = {1 << 20}, .second = 4},
       .seconds = {50e-6 + 1.5 * ours, 50e-6 + 1.8 * ours, 50e-6 + 2 * ours, 50e-6 + 0.9 * ours}});
  const BetweenNodes found = *fit_probes(samples).between_nodes;
  EXPECT_NEAR(found.native_exchange, 1.65, 1e-6);
  EXPECT_EQ(found.native_exchange_interval->low, 1) << "no library does it faster than its link";
  EXPECT_NEAR(found.native_exchange_interval->high, 2, 1e-6);
}

TEST(Fit, ANicThatOneMessageDoesNotGetInBothDirectionsIsAsWideAsAllGetTogether) {
  std::vector<ProbeSample> samples = PlantedProbes({.noise = 0}, 1).all();
  const std::vector<ProbeSample> between = between_nodes(50e-6, 1 / 1.2e9, 0.5);
  samples.insert(samples.end(), between.begin(), between.end());
  const Calibrated found = fit_probes(samples);
  EXPECT_NEAR(found.between_nodes->bandwidth.value, 0.6e9, 1);
  ASSERT_TRUE(found.between_nodes->bandwidth_interval);
  const double margin = std::exp(1.645 * 0.07);
  EXPECT_NEAR(found.between_nodes->bandwidth_interval->low, 0.6e9 / margin, 1);
  EXPECT_GE(found.between_nodes->bandwidth_interval->high, 1.2e9 * margin - 1);
  EXPECT_EQ(found.between_nodes->messages, 1);
}

TEST(Fit, StreamsCarryTheBandwidthOnBeyondThePingPongs) {
  const Planted planted = {.noise = 0};
  PlantedProbes probes(planted, 1);
  std::vector<ProbeSample> samples = {probes.ping_pong(8), probes.ping_pong(1024)};
  const std::int64_t large = 1 << 26;
  samples.push_back(
      probes.sample(ProbeKind::stream, 2, large, 2 * planted.beta * static_cast<double>(large)));
  const double slower = fit_probes(samples).bandwidth.value;
  EXPECT_LT(slower, 0.6 / planted.beta);
  // Where both were probed, a stream says nothing about one message alone.
  samples.push_back(probes.ping_pong(large));
  EXPECT_NEAR(fit_probes(samples).bandwidth.value, 1 / planted.beta, 1e-6 / planted.beta);
}

TEST(Fit, StreamsSayNothingOfLatencyNorOfSizesThatPingPongsHave) {
  const Planted planted = {.alpha = 1e-3, .beta = 1e-9, .noise = 0};
  PlantedProbes probes(planted, 1);
  std::vector<ProbeSample> samples = {probes.ping_pong(1'000), probes.ping_pong(1'000'000)};
  for (const std::int64_t bytes : {2'000'000, 4'000'000, 8'000'000, 16'000'000, 32'000'000}) {
    samples.push_back(probes.sample(ProbeKind::stream, 2, bytes, planted.beta * static_cast<double>(bytes)));
  }
  EXPECT_NEAR(fit_probes(samples).latency.value, planted.alpha, 1e-9);
  for (const std::int64_t bytes : {1'000, 2'000, 4'000, 8'000, 16'000, 32'000, 64'000}) {
    samples.push_back(probes.sample(ProbeKind::stream, 2, bytes, 1e-6));
  }
  EXPECT_NEAR(fit_probes(samples).latency.value, planted.alpha, 1e-9);
}

/// Standard errors of a line's two numbers where relative deviations have a standard error of one.
struct UnitErrors {
  double latency = 0;
  double per_byte = 0;
};

UnitErrors unit_errors(const std::vector<CurvePoint>& times) {
  double a00 = 0;
  double a01 = 0;
  double a11 = 0;
  for (const CurvePoint& point : times) {
    const double one = 1 / point.value;
    const double bytes = static_cast<double>(point.bytes.value) / point.value;
    a00 += one * one;
    a01 += one * bytes;
    a11 += bytes * bytes;
  }
  const double determinant = a00 * a11 - a01 * a01;
  return {.latency = std::sqrt(a11 / determinant), .per_byte = std::sqrt(a00 / determinant)};
}

TEST(Fit, TheIntervalIsThatOfStudentsDistribution) {
  // Three times are on the line of 1 us and 1 GB/s and one is 10 % above it: two degrees of freedom.
  const std::vector<CurvePoint> times = {
      {{1'000}, 2e-6}, {{2'000}, 3e-6}, {{4'000}, 5.5e-6}, {{8'000}, 9e-6}};
  const LinearCost cost = fit_line(times);
  ASSERT_TRUE(cost.latency_interval && cost.per_byte_interval);
  EXPECT_NEAR(cost.latency.value, 1e-6, 1e-12);
  // deviation = (0.5/5.5)/2; t of two degrees is 4.303. Covariance: (pi/2)^2 · deviation^2 · (A'A)^-1.
  const double error = 3.14159265 / 2 * (0.5 / 5.5) / 2;
  const UnitErrors unit = unit_errors(times);
  EXPECT_NEAR(cost.latency_interval->high - cost.latency.value, 4.303 * error * unit.latency, 1e-9);
  EXPECT_NEAR(cost.per_byte_interval->high - cost.inverse_bandwidth.value, 4.303 * error * unit.per_byte,
              1e-13);
}

TEST(Fit, ItsTFollowsTheTableForMoreDegreesOfFreedom) {
  // A last point 10 % above the line of the others.
  const auto width = [](int points) {
    std::vector<CurvePoint> times;
    for (int i = 0; i < points; ++i) {
      times.push_back({{1'000 << i}, 1e-6 + 1e-9 * (1'000 << i)});
    }
    times.back().value *= 1.1;
    const LinearCost cost = fit_line(times);
    double deviation = 0;
    for (const CurvePoint& point : times) {
      const double fitted =
          cost.latency.value + cost.inverse_bandwidth.value * static_cast<double>(point.bytes.value);
      deviation += std::abs(1 - fitted / point.value);
    }
    const double error = 3.14159265 / 2 * deviation / (points - 2);
    return (cost.latency_interval->high - cost.latency.value) / (error * unit_errors(times).latency);
  };
  const std::vector<double> table = {4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306};
  for (std::size_t i = 0; i < table.size(); ++i) {
    EXPECT_NEAR(width(static_cast<int>(i) + 4), table[i], 2.5e-3 * table[i]) << i + 2;
  }
}

TEST(Fit, ReductionsCountOutOfCacheAndOfOneRankAlone) {
  PlantedProbes probes({.noise = 0}, 1);
  std::vector<ProbeSample> samples = {probes.ping_pong(8), probes.ping_pong(1 << 20)};
  const auto add = [&](int ranks, std::int64_t bytes, double nanoseconds_per_byte) {
    samples.push_back({.key = {.kind = ProbeKind::reduction, .ranks = ranks, .bytes = {bytes}},
                       .seconds = {1e-9 * nanoseconds_per_byte * static_cast<double>(bytes)}});
  };
  add(1, 1 << 12, 0.01);  // in cache
  add(1, 1 << 24, 0.2);
  add(1, 1 << 25, 0.3);
  add(1, 1 << 26, 0.25);
  add(4, 1 << 26, 0.9);  // memory shared by four
  const Calibrated found = fit_probes(samples);
  EXPECT_NEAR(found.reduction.value, 0.25e-9, 1e-15);
  EXPECT_FALSE(found.reduction_interval.has_value()) << "three repetitions have no 95 % interval";
  const std::vector<CurvePoint> alone = points(found, ProbeKind::reduction, 1);
  ASSERT_EQ(alone.size(), 4U);
  EXPECT_EQ(alone[0].bytes, Bytes{1 << 12});
  EXPECT_NEAR(alone[0].value, 0.01e-9, 1e-15);
  ASSERT_EQ(points(found, ProbeKind::reduction, 4).size(), 1U);
  EXPECT_NEAR(points(found, ProbeKind::reduction, 4)[0].value, 0.9e-9, 1e-15);
}

TEST(Fit, WithoutReductionsTheyCostNothing) {
  PlantedProbes probes({}, 1);
  const std::vector<ProbeSample> samples = {probes.ping_pong(8), probes.ping_pong(1 << 20)};
  const Calibrated found = fit_probes(samples);
  EXPECT_EQ(found.reduction.value, 0);
  EXPECT_FALSE(found.reduction_interval.has_value());
  EXPECT_EQ(find_curve(found.curves, ProbeKind::reduction), nullptr);
}

TEST(Fit, TheTransferCurveIsOfMediansAndNeverFalls) {
  const std::vector<ProbeSample> samples = {{.key = {.bytes = {4096}}, .seconds = {8e-6}},
                                            {.key = {.bytes = {8}}, .seconds = {5e-6, 90e-6, 6e-6}},
                                            {.key = {.bytes = {64}}, .seconds = {10e-6}},
                                            {.key = {.bytes = {1 << 20}}, .seconds = {1e-3}}};
  const Calibrated found = fit_probes(samples);
  const std::vector<CurvePoint> transfers = points(found, ProbeKind::ping_pong);
  ASSERT_EQ(transfers.size(), 4U);
  EXPECT_EQ(transfers[0].bytes, Bytes{8});
  EXPECT_NEAR(transfers[0].value, 6e-6, 1e-18);
  EXPECT_NEAR(transfers[1].value, 8e-6, 1e-18);
  EXPECT_NEAR(transfers[2].value, 8e-6, 1e-18);
  EXPECT_NEAR(transfers[3].value, 1e-3, 1e-18);
}

TEST(Fit, RepetitionsOfOneProbeWeighTheSame) {
  const std::vector<ProbeSample> samples = {{.key = {.bytes = {8}}, .seconds = {1e-6}},
                                            {.key = {.bytes = {8}}, .seconds = {3e-6, 2e-6}},
                                            {.key = {.bytes = {64}}, .seconds = {}},
                                            {.key = {.bytes = {1 << 20}}, .seconds = {1e-3}}};
  const Calibrated found = fit_probes(samples);
  ASSERT_EQ(points(found, ProbeKind::ping_pong).size(), 2U);
  // Half of the weight at 1 µs, a quarter at 2 and at 3.
  EXPECT_NEAR(points(found, ProbeKind::ping_pong)[0].value, 1.5e-6, 1e-18);
}

TEST(Fit, ADisturbedPassOfThreeCountsForNothing) {
  const std::vector<ProbeSample> samples = {
      {.key = {.bytes = {8}}, .seconds = {2e-6, 2e-6}},
      {.key = {.bytes = {8}}, .seconds = {9e-6, 9e-6, 9e-6, 9e-6, 9e-6, 9e-6, 9e-6}},
      {.key = {.bytes = {8}}, .seconds = {2.2e-6}},
      {.key = {.bytes = {1 << 20}}, .seconds = {1e-3}}};
  EXPECT_NEAR(points(fit_probes(samples), ProbeKind::ping_pong).at(0).value, 2.2e-6, 1e-18);
}

TEST(Fit, NeighbourExchangesAreMediansByRanksAndSize) {
  PlantedProbes probes({.noise = 0, .repetitions = 3}, 1);
  std::vector<ProbeSample> samples = {probes.ping_pong(8), probes.ping_pong(1 << 20)};
  samples.push_back(
      {.key = {.kind = ProbeKind::neighbour_exchange, .ranks = 4, .bytes = {64}}, .seconds = {4e-6}});
  samples.push_back({.key = {.kind = ProbeKind::neighbour_exchange, .ranks = 2, .bytes = {4096}},
                     .seconds = {3e-6, 3.5e-6, 1e-6}});
  samples.push_back(
      {.key = {.kind = ProbeKind::neighbour_exchange, .ranks = 2, .bytes = {64}}, .seconds = {2e-6}});
  const Calibrated found = fit_probes(samples);
  const std::vector<CurvePoint> of_two = points(found, ProbeKind::neighbour_exchange, 2);
  ASSERT_EQ(of_two.size(), 2U);
  EXPECT_EQ(of_two[0].bytes, Bytes{64});
  EXPECT_EQ(of_two[1].bytes, Bytes{4096});
  EXPECT_NEAR(of_two[1].value, 3e-6, 1e-18);
  EXPECT_EQ(points(found, ProbeKind::neighbour_exchange, 4).size(), 1U);

  samples.push_back({.key = {.kind = ProbeKind::neighbour_exchange, .ranks = 2, .bytes = {64}, .messages = 3},
                     .seconds = {5e-6}});
  EXPECT_EQ(points(fit_probes(samples), ProbeKind::neighbour_exchange, 2).size(), 2U)
      << "several messages at once are a curve of their own";
}

TEST(Fit, ChainedExchangesAreMediansByRanksAndSize) {
  PlantedProbes probes({.noise = 0, .repetitions = 3}, 1);
  std::vector<ProbeSample> samples = {probes.ping_pong(8), probes.ping_pong(1 << 20)};
  samples.push_back({.key = {.kind = ProbeKind::chained_exchange, .ranks = 4, .bytes = {64}},
                     .seconds = {4e-6, 4e-6, 4e-6, 3e-3, 3e-3}});
  samples.push_back({.key = {.kind = ProbeKind::chained_exchange_posted, .ranks = 4, .bytes = {64}},
                     .seconds = {2e-6, 3e-6, 9e-6}});
  const Calibrated found = fit_probes(samples);
  EXPECT_EQ(find_curve(found.curves, ProbeKind::neighbour_exchange), nullptr);
  ASSERT_EQ(points(found, ProbeKind::chained_exchange, 4).size(), 1U);
  EXPECT_NEAR(points(found, ProbeKind::chained_exchange, 4)[0].value, 4e-6, 1e-18);
  ASSERT_EQ(points(found, ProbeKind::chained_exchange_posted, 4).size(), 1U);
  EXPECT_NEAR(points(found, ProbeKind::chained_exchange_posted, 4)[0].value, 3e-6, 1e-18);
}

TEST(Fit, WhatAPartOfTheRanksProbesIsOneCurveHoweverManyWereStarted) {
  PlantedProbes probes({.noise = 0, .repetitions = 3}, 1);
  std::vector<ProbeSample> samples = {probes.ping_pong(8), probes.ping_pong(1 << 20)};
  samples.push_back({.key = {.kind = ProbeKind::fan_out, .ranks = 4, .bytes = {64}}, .seconds = {2e-6}});
  samples.push_back({.key = {.kind = ProbeKind::fan_out, .ranks = 8, .bytes = {64}}, .seconds = {4e-6}});
  const Calibrated found = fit_probes(samples);
  ASSERT_EQ(points(found, ProbeKind::fan_out, 3).size(), 1U);
  EXPECT_NEAR(points(found, ProbeKind::fan_out, 3)[0].value, 3e-6, 1e-18);
}

/// Two repetitions whose medians lie `apart` (logarithm).
std::vector<ProbeSample> two_repetitions(ProbeKind kind, std::int64_t bytes, double apart) {
  const ProbeKey key = {.kind = kind, .ranks = 4, .bytes = {bytes}};
  return {{.key = key, .seconds = {1e-4}}, {.key = key, .seconds = {1e-4 * std::exp(apart)}}};
}

std::vector<SpreadPoint> spread_of(const std::vector<std::vector<ProbeSample>>& repeated) {
  PlantedProbes probes({}, 1);
  std::vector<ProbeSample> samples = {probes.ping_pong(8), probes.ping_pong(1 << 20)};
  for (const std::vector<ProbeSample>& repetitions : repeated) {
    samples.insert(samples.end(), repetitions.begin(), repetitions.end());
  }
  return fit_probes(samples).spread;
}

/// When two repetitions are `apart`, each is a half and lies `apart`/2 from their common median (as
/// logarithms, to first order). What halves share with the whole is made up for by √((2 + 1) / (2 − 1) / 2).
double deviation_of_two(double apart) {
  const double middle = std::log((1 + std::exp(apart)) / 2);
  return std::sqrt(1.5) * (apart > 0 ? apart - middle : 0);
}

TEST(Fit, TheSpreadIsHowFarRepetitionsLieApart) {
  EXPECT_THAT(spread_of({}), IsEmpty()) << "one repetition tells nothing";
  const auto spread = spread_of({two_repetitions(ProbeKind::neighbour_exchange, 64, 0.2)});
  ASSERT_EQ(spread.size(), 1U) << "only where there are several repetitions";
  EXPECT_EQ(spread[0].bytes, Bytes{64});
  EXPECT_NEAR(spread[0].slow_deviation.value(), deviation_of_two(0.2), 1e-9);
  EXPECT_NEAR(spread[0].deviation, std::sqrt(1.5) * 0.2 - deviation_of_two(0.2), 1e-9);
}

TEST(Fit, TheSpreadPoolsProbesOfLikeSizes) {
  const auto spread = spread_of({two_repetitions(ProbeKind::neighbour_exchange, 64, 0.2),
                                 two_repetitions(ProbeKind::fan_out, 64, 0.4),
                                 two_repetitions(ProbeKind::neighbour_exchange, 256, 0.6),
                                 two_repetitions(ProbeKind::neighbour_exchange, 1024, 0.8)});
  ASSERT_EQ(spread.size(), 3U);
  const auto pooled = [](const std::vector<double>& apart) {
    double squares = 0;
    for (const double each : apart) {
      squares += deviation_of_two(each) * deviation_of_two(each);
    }
    return std::sqrt(squares / static_cast<double>(apart.size()));
  };
  EXPECT_NEAR(spread[0].slow_deviation.value(), pooled({0.2, 0.4, 0.6}), 1e-9);
  EXPECT_NEAR(spread[1].slow_deviation.value(), pooled({0.2, 0.4, 0.6, 0.8}), 1e-9);
  EXPECT_NEAR(spread[2].slow_deviation.value(), pooled({0.6, 0.8}), 1e-9);
}

TEST(Fit, WhatProcessorsDoHasNoPartInTheSpreadOfMessages) {
  const std::vector<SpreadPoint> alone =
      spread_of({two_repetitions(ProbeKind::neighbour_exchange, 4096, 0.2)});
  EXPECT_EQ(spread_of({two_repetitions(ProbeKind::neighbour_exchange, 4096, 0.2),
                       two_repetitions(ProbeKind::send, 4096, 0.8),
                       two_repetitions(ProbeKind::reduction, 4096, 0.6)}),
            alone);

  PlantedProbes probes({}, 1);
  std::vector<ProbeSample> samples = {probes.ping_pong(8), probes.ping_pong(1 << 20)};
  EXPECT_THAT(fit_probes(samples).reduction_spread, IsEmpty());
  const std::vector<ProbeSample> reductions = two_repetitions(ProbeKind::reduction, 4096, 0.6);
  samples.insert(samples.end(), reductions.begin(), reductions.end());
  const Calibrated found = fit_probes(samples);
  EXPECT_THAT(found.spread, IsEmpty());
  ASSERT_EQ(found.reduction_spread.size(), 1U);
  EXPECT_EQ(found.reduction_spread[0].bytes, Bytes{4096});
  EXPECT_NEAR(found.reduction_spread[0].slow_deviation.value(), deviation_of_two(0.6), 1e-9);
}

TEST(Fit, TheSpreadIsNeverLessThanThatOfTheMediansComparedWith) {
  const auto spread = spread_of({two_repetitions(ProbeKind::neighbour_exchange, 64, 0)});
  ASSERT_EQ(spread.size(), 1U);
  EXPECT_NEAR(spread[0].deviation, 0.05 / 2 / 1.96, 1e-12);
}

TEST(Fit, TheSpreadOfLargeMessagesDoesNotComeFromSmallOnes) {
  const Planted planted = {.noise = 0};
  PlantedProbes probes(planted, 1);
  const auto deviation_of = [](std::int64_t bytes) { return bytes <= 4096 ? 0.3 : 0.02; };
  std::vector<ProbeSample> samples;
  // Three repetitions of which one is faster and one slower by the deviation.
  for (const int repetition : {-1, 0, 1}) {
    for (std::int64_t bytes = 16; bytes <= (std::int64_t{16} << 20); bytes *= 4) {
      for (const ProbeKind kind : {ProbeKind::ping_pong, ProbeKind::neighbour_exchange, ProbeKind::fan_out}) {
        const double seconds = planted.alpha + planted.beta * static_cast<double>(bytes);
        samples.push_back(
            probes.sample(kind, 4, bytes, seconds * std::exp(repetition * deviation_of(bytes))));
      }
    }
  }
  const std::vector<SpreadPoint> spread = fit_probes(samples).spread;
  EXPECT_EQ(spread.size(), 11U);
  for (const auto& [bytes, deviation, slow_deviation] : spread) {
    // Different neighbouring sizes both take part. One repetition of three is √(2/3) as far from the middle.
    const double expected = bytes.value == 4096    ? std::sqrt((2 * 0.09 + 0.0004) / 3)
                            : bytes.value == 16384 ? std::sqrt((0.09 + 2 * 0.0004) / 3)
                                                   : deviation_of(bytes.value);
    EXPECT_NEAR(deviation, std::sqrt(2.0 / 3) * expected, 1e-9) << bytes.value;
    EXPECT_NEAR(slow_deviation.value(), deviation, 1e-9) << bytes.value;
  }
}

TEST(NonDecreasing, PoolsOnlyWhatFalls) {
  EXPECT_THAT(non_decreasing({}), IsEmpty());
  EXPECT_THAT(non_decreasing(std::vector<double>{1, 2, 2, 3}), ElementsAre(1, 2, 2, 3));
  EXPECT_THAT(non_decreasing(std::vector<double>{1, 3, 2, 4}), ElementsAre(1, 2, 2, 4));
  EXPECT_THAT(non_decreasing(std::vector<double>{4, 3, 2, 1}), ElementsAre(2, 2, 2, 2));
  // Pooling the last two makes them fall below the first.
  EXPECT_THAT(non_decreasing(std::vector<double>{3, 4, 1, 1}), ElementsAre(1, 1, 1, 1));
}

TEST(NonDecreasing, OneDisturbedValueDoesNotMoveItsNeighbours) {
  EXPECT_THAT(non_decreasing(std::vector<double>{57, 59, 60, 3900, 60, 61, 62, 117}),
              ElementsAre(57, 59, 60, 60, 60, 61, 62, 117));
  EXPECT_THAT(non_decreasing(std::vector<double>{57, 59, 1, 60, 61}), ElementsAre(57, 57, 57, 60, 61));
}

TEST(PairMatrix, HoldsBothDirectionsOfEveryPairThatWasProbedInAllWays) {
  const auto sample = [](ProbeKind kind, Rank first, Rank second, std::int64_t bytes, double seconds) {
    return ProbeSample{.key = {.kind = kind, .bytes = {bytes}, .first = first, .second = second},
                       .seconds = {seconds, 100 * seconds, seconds}};
  };
  const std::vector<ProbeSample> samples = {
      sample(ProbeKind::ping_pong, 0, 2, 8, 5e-6), sample(ProbeKind::stream, 0, 2, 1000, 1e-6),
      sample(ProbeKind::stream, 2, 0, 1000, 2e-6), sample(ProbeKind::both_ways, 0, 2, 1000, 4e-6),
      sample(ProbeKind::ping_pong, 0, 1, 8, 5e-6), sample(ProbeKind::stream, 0, 1, 1000, 1e-6),
  };
  EXPECT_THAT(
      pair_matrix(samples),
      ElementsAre(
          PairPoint{.from = 0, .to = 2, .latency = {5e-6}, .bandwidth = {1e9}, .both_ways = {0.25e9}},
          PairPoint{.from = 2, .to = 0, .latency = {5e-6}, .bandwidth = {0.5e9}, .both_ways = {0.25e9}}));
}

}  // namespace
}  // namespace ringside
