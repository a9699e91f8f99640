#pragma once

#include <array>
#include <optional>

#include "common/interval.hpp"

/// How good a 90 % interval of a time is (logarithms): narrow is rewarded, missing punished.
namespace ringside {

/// A prediction as a distribution of the logarithm of time: two halves of Gaussians around the predicted time
/// whose 5 % and 95 % are the interval's ends. Without an interval all of it is at the predicted time.
struct TimeForecast {
  double predicted = 0;  ///< Seconds.
  std::optional<Interval<double>> interval = {};
};

/// Winkler's interval score of 90 % intervals: the width, and twenty times what the measured time is outside
/// by. Natural logarithms; 0.7 is an interval of ×2 that holds. Nothing without an interval.
std::optional<double> winkler_score(const TimeForecast& forecast, double measured);

/// Continuous ranked probability score; without an interval the logarithm's absolute error.
double crps(const TimeForecast& forecast, double measured);

/// Central intervals of which a reliability table says how often they held.
inline constexpr std::array<double, 3> kReliabilityLevels = {0.5, 0.8, 0.9};

/// Whether the central interval of that probability holds the measured time. Nothing without an interval.
std::optional<bool> holds(const TimeForecast& forecast, double measured, double level);

}  // namespace ringside
