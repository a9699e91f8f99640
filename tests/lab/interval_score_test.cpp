#include "lab/evaluation/interval_score.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace ringside {
namespace {

TEST(IntervalScore, WinklerIsTheWidthAndTwentyTimesWhatIsMissed) {
  const TimeForecast forecast{.predicted = 1,
                              .interval = Interval<double>{.low = 0.5, .typical = 1, .high = 2}};
  const double width = std::log(4.0);
  EXPECT_NEAR(*winkler_score(forecast, 1.5), width, 1e-12);
  EXPECT_NEAR(*winkler_score(forecast, 4), width + 20 * std::log(2.0), 1e-12);
  EXPECT_NEAR(*winkler_score(forecast, 0.25), width + 20 * std::log(2.0), 1e-12);
  EXPECT_FALSE(winkler_score({.predicted = 1, .interval = {}}, 2));
}

TEST(IntervalScore, CrpsOfAPointIsItsErrorAndOfAGaussianTheTextbooks) {
  EXPECT_NEAR(crps({.predicted = 1, .interval = {}}, 2), std::log(2.0), 1e-9);
  // A Gaussian of standard deviation 1, at its middle: (√2 − 1)/√π.
  const double end = std::exp(1.6448536269514722);
  const TimeForecast gaussian{.predicted = 1,
                              .interval = Interval<double>{.low = 1 / end, .typical = 1, .high = end}};
  EXPECT_NEAR(crps(gaussian, 1), (std::sqrt(2.0) - 1) / std::sqrt(std::acos(-1.0)), 0.01);
  EXPECT_GT(crps(gaussian, 5), crps(gaussian, 1));
}

TEST(IntervalScore, NarrowerIntervalsHoldLess) {
  const TimeForecast forecast{.predicted = 1,
                              .interval = Interval<double>{.low = 0.5, .typical = 1, .high = 2}};
  EXPECT_TRUE(*holds(forecast, 2, 0.9));
  EXPECT_FALSE(*holds(forecast, 2, 0.8));
  EXPECT_TRUE(*holds(forecast, 1.2, 0.5));
  EXPECT_FALSE(*holds(forecast, 0.49, 0.9));
}

}  // namespace
}  // namespace ringside
