#include "analysis/repetitions.hpp"

#include <cmath>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/comparison/point_sentences.hpp"
#include "analysis/fit.hpp"
#include "common/error.hpp"

namespace ringside {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(CommonMedian, EveryRepetitionWeighsTheSame) {
  EXPECT_EQ(common_median(Repeated{{3, 1, 2}}), 2);
  EXPECT_EQ(common_median(Repeated{{1, 2}}), 1.5);
  // The disturbed one made many more calls.
  EXPECT_EQ(common_median(Repeated{{1, 1, 1}, {2, 2, 2}, std::vector<double>(400, 9.0)}), 2);
}

ProbeSample probe(ProbeKind kind, std::int64_t bytes, double seconds, int ranks = 2) {
  return {.key = {.kind = kind, .ranks = ranks, .bytes = {bytes}}, .seconds = {seconds, seconds, seconds}};
}

/// `repetitions` of one probe, log-normal around 1 ms; a share of them `slower` times slower.
std::vector<ProbeSample> probes(int repetitions, double deviation, double share, double slower) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise(0, deviation);
  std::uniform_real_distribution<double> chance(0, 1);
  std::vector<ProbeSample> samples;
  for (std::int64_t bytes = 64; bytes < 6400; bytes += 64) {
    for (int i = 0; i < repetitions; ++i) {
      const double factor = chance(random) < share ? slower : 1;
      samples.push_back(probe(ProbeKind::neighbour_exchange, bytes, 1e-3 * factor * std::exp(noise(random))));
    }
  }
  return samples;
}

bool any_kind(const ProbeKindRow& /*row*/) { return true; }

TEST(Spread, IsTheDeviationOfOneRepetitionOfManyProbes) {
  for (const int repetitions : {2, 3, 6, 10}) {
    const std::vector<SpreadPoint> spread = spread_of(probes(repetitions, 0.1, 0, 1), any_kind);
    const SpreadPoint& middle = spread.at(spread.size() / 2);
    // Half the repetitions and the probes: 0.1·√(1/h + 1/n)/√2, times √(π/2) at most for a median of medians.
    const double n = repetitions;
    const double h = repetitions / 2;
    const double of_means = 0.1 * std::sqrt((1 / h + 1 / n) / 2);
    for (const double deviation : {middle.deviation, middle.slow_deviation.value()}) {
      EXPECT_GT(deviation, 0.85 * of_means) << repetitions;
      EXPECT_LT(deviation, 1.4 * of_means) << repetitions;
    }
  }
}

TEST(Spread, OfADisturbedMachineReachesFurtherToTheSlowSide) {
  const std::vector<SpreadPoint> spread = spread_of(probes(6, 0.05, 0.15, 5), any_kind);
  const SpreadPoint& middle = spread.at(spread.size() / 2);
  EXPECT_LT(middle.deviation, 0.4);
  EXPECT_GT(middle.slow_deviation.value(), 1.5 * middle.deviation);
}

TEST(Spread, OfAMachineThatIsMostlyDisturbedReachesWhatItDoesUndisturbed) {
  const auto fast_end = [](double slow_share) {
    const std::vector<SpreadPoint> spread = spread_of(probes(6, 0.05, slow_share, 5), any_kind);
    return std::exp(1.645 * std::sqrt(2.0) * spread.at(spread.size() / 2).deviation);
  };
  EXPECT_LT(fast_end(0), 1.3);
  EXPECT_GT(fast_end(0.6), 4) << "most repetitions took five times as long as the rest";
  ASSERT_FALSE(disturbance(probes(6, 0.05, 0.93, 5)).has_value());
  EXPECT_GT(fast_end(0.93), 2) << "one repetition in fourteen was fast, which a measurement may meet";
}

TEST(Disturbance, IsHowMuchSlowerSomeProbesWere) {
  EXPECT_FALSE(disturbance(probes(6, 0.1, 0, 1)).has_value()) << "quiet";
  EXPECT_FALSE(disturbance(probes(2, 0.1, 0.3, 5)).has_value())
      << "two repetitions do not say which one is usual";
  EXPECT_TRUE(disturbance(probes(3, 0.1, 0.3, 5)).has_value()) << "three do";
  const std::optional<Disturbance> found = disturbance(probes(6, 0.1, 0.3, 5));
  ASSERT_TRUE(found.has_value());
  EXPECT_NEAR(found->share, 0.3, 0.05);
  EXPECT_NEAR(found->slower, 5, 0.5);

  // What was probed only twice does not count as undisturbed.
  std::vector<ProbeSample> samples = probes(6, 0.1, 0.3, 5);
  for (std::int64_t bytes = 1; bytes <= 2000; ++bytes) {
    samples.insert(samples.end(), 2, probe(ProbeKind::ping_pong, bytes, 1e-3));
  }
  ASSERT_TRUE(disturbance(samples).has_value());
  EXPECT_EQ(disturbance(samples)->share, found->share);
}

TEST(Disturbance, IsOneSentence) {
  Machine machine;
  EXPECT_FALSE(disturbance_sentence(machine).has_value());
  machine.calibrated.emplace();
  machine.calibrated->cores = 2;
  EXPECT_FALSE(disturbance_sentence(machine).has_value());
  machine.calibrated->disturbance =
      Disturbance{.share = 0.4, .slower = 1.6, .other_load = 1.9, .stolen = 0, .throttled = 0};
  EXPECT_EQ(disturbance_sentence(machine),
            "this machine was disturbed: 40 % of its probes took 1.6× as long as others, while other "
            "processes used 1.9 of 2 "
            "cores; predictions are for its faster state, and their intervals cover both");
  machine.calibrated->disturbance =
      Disturbance{.share = 0.6, .slower = 3, .other_load = 0, .stolen = 0.5, .throttled = 0.3};
  EXPECT_THAT(
      disturbance_sentence(machine).value(),
      AllOf(HasSubstr("the hypervisor gave 0.5 cores to others and its container had used up its CPU quota"),
            HasSubstr("for its usual, slower state"), Not(HasSubstr("other processes"))));
  machine.calibrated->disturbance =
      Disturbance{.share = 0.2, .slower = 3, .other_load = 0, .stolen = 0, .throttled = 0};
  EXPECT_THAT(disturbance_sentence(machine).value(), HasSubstr("for a reason unknown to the kernel"));
  machine.calibrated->disturbance = Disturbance{.share = 0, .slower = 1, .other_load = 1.5};
  EXPECT_EQ(
      disturbance_sentence(machine),
      "this machine was disturbed, while other processes used 1.5 of 2 cores; intervals are wider for it");
}

TEST(Contradiction, IsOneMessageThatTakesLongerThanAllAtOnce) {
  std::vector<ProbeSample> samples = {probe(ProbeKind::ping_pong, 8, 6.46e-3),
                                      probe(ProbeKind::ping_pong, 1 << 20, 60e-3),
                                      probe(ProbeKind::neighbour_exchange, 8, 0.24e-3, 4)};
  EXPECT_EQ(contradiction(samples),
            "a message of 8 B takes 6.46 ms alone, and 240 µs while 4 ranks send at once");
  // Made again, quietly and twice.
  samples.push_back(probe(ProbeKind::ping_pong, 8, 0.1e-3));
  samples.push_back(probe(ProbeKind::ping_pong, 8, 0.1e-3));
  EXPECT_FALSE(contradiction(samples).has_value());
}

TEST(Contradiction, IsMoreThanThreeTimesAsLong) {
  const auto alone_over_together = [](double factor) {
    return contradiction(std::vector{probe(ProbeKind::ping_pong, 8, factor * 1e-3),
                                     probe(ProbeKind::ping_pong, 1 << 20, 60e-3),
                                     probe(ProbeKind::neighbour_exchange, 8, 1e-3, 4)});
  };
  EXPECT_FALSE(alone_over_together(2.9).has_value());
  EXPECT_TRUE(alone_over_together(3.1).has_value());
}

TEST(Contradiction, IsALongMessageThatTakesNoLonger) {
  EXPECT_THAT(contradiction(std::vector{probe(ProbeKind::ping_pong, 8, 5e-3),
                                        probe(ProbeKind::ping_pong, 1 << 20, 4e-3)})
                  .value(),
              HasSubstr("messages of 1 MiB take no longer than those of 8 B"));
}

TEST(CostPerByte, IsNoneWhereTheFitWouldThrow) {
  std::vector<ProbeSample> samples = {probe(ProbeKind::ping_pong, 8, 5e-3)};
  EXPECT_FALSE(cost_per_byte(samples).has_value()) << "one size alone";
  samples.push_back(probe(ProbeKind::ping_pong, 1 << 20, 4e-3));
  EXPECT_FALSE(cost_per_byte(samples).has_value());
  EXPECT_THROW(fit_probes(samples), Error);
  // Made again for longer.
  for (int i = 0; i < 2; ++i) {
    samples.push_back(probe(ProbeKind::ping_pong, 8, 1e-3));
    samples.push_back(probe(ProbeKind::ping_pong, 1 << 20, 4e-3));
  }
  EXPECT_DOUBLE_EQ(cost_per_byte(samples).value().value, 1 / fit_probes(samples).bandwidth.value);
}

}  // namespace
}  // namespace ringside
