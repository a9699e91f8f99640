#include "lab/evaluation/interval_score.hpp"

#include <algorithm>
#include <cmath>

namespace ringside {

namespace {

constexpr double kTail = 0.05;
constexpr double kGaussian90 = 1.6448536269514722;

/// The standard Gaussian's quantile, by bisection of erfc.
double gaussian_quantile(double probability) {
  double low = -8;
  double high = 8;
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    (0.5 * std::erfc(-middle / std::sqrt(2.0)) < probability ? low : high) = middle;
  }
  return (low + high) / 2;
}

/// log(quantile / predicted), for a Gaussian's quantile `z`.
double offset(const TimeForecast& forecast, double z) {
  if (!forecast.interval) {
    return 0;
  }
  const double end = z < 0 ? forecast.interval->low : forecast.interval->high;
  return std::abs(z) / kGaussian90 * std::log(end / forecast.predicted);
}

}  // namespace

std::optional<double> winkler_score(const TimeForecast& forecast, double measured) {
  if (!forecast.interval) {
    return std::nullopt;
  }
  const double low = std::log(forecast.interval->low);
  const double high = std::log(forecast.interval->high);
  const double outside = std::max({0.0, low - std::log(measured), std::log(measured) - high});
  return high - low + outside / kTail;
}

double crps(const TimeForecast& forecast, double measured) {
  // Twice the mean quantile loss over all probabilities, here over the middles of 40 equal parts.
  constexpr int kParts = 40;
  static const auto kQuantiles = [] {
    std::array<double, kParts> quantiles = {};
    for (int i = 0; i < kParts; ++i) {
      quantiles[static_cast<std::size_t>(i)] = gaussian_quantile((i + 0.5) / kParts);
    }
    return quantiles;
  }();
  const double error = std::log(measured / forecast.predicted);
  double sum = 0;
  for (int i = 0; i < kParts; ++i) {
    const double probability = (i + 0.5) / kParts;
    const double above = error - offset(forecast, kQuantiles[static_cast<std::size_t>(i)]);
    sum += above > 0 ? probability * above : (probability - 1) * above;
  }
  return 2 * sum / kParts;
}

std::optional<bool> holds(const TimeForecast& forecast, double measured, double level) {
  if (!forecast.interval) {
    return std::nullopt;
  }
  const double error = std::log(measured / forecast.predicted);
  const double z = gaussian_quantile((1 + level) / 2);
  // The ends themselves are inside, whatever rounding says.
  constexpr double kRounding = 1e-9;
  return error >= offset(forecast, -z) - kRounding && error <= offset(forecast, z) + kRounding;
}

}  // namespace ringside
