#include "analysis/fitted.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analysis/fit.hpp"
#include "common/numbers.hpp"

namespace ringside {
namespace {

constexpr std::size_t kMinSizes = 3;  // Through two, every line is exact.

bool comparable(const Point& point) {
  return point.predicted && point.measured && point.measured->outcome == Outcome::ok &&
         point.measured->seconds.value > 0 && point.key.bytes.value > 0;
}

double relative_error(Seconds time, const Point& point) {
  return std::abs(time.value / point.measured->seconds.value - 1);
}

/// `points` are of one curve, by ascending size.
FittedCurve fitted(const PointKey& key, const std::vector<const Point*>& points) {
  std::vector<CurvePoint> times;
  times.reserve(points.size());
  for (const Point* point : points) {
    times.push_back({.bytes = point->key.bytes, .value = point->measured->seconds.value});
  }
  const LinearCost line = fit_line(times);
  FittedCurve curve = {.key = key, .latency = line.latency, .inverse_bandwidth = line.inverse_bandwidth};
  for (const Point* point : points) {
    curve.error += relative_error(curve.at(point->key.bytes), *point);
    curve.predicted_error += relative_error(point->predicted->seconds, *point);
  }
  curve.error /= static_cast<double>(points.size());
  curve.predicted_error /= static_cast<double>(points.size());
  return curve;
}

}  // namespace

std::vector<FittedCurve> fitted_curves(std::span<const Point> points) {
  std::vector<std::pair<PointKey, std::vector<const Point*>>> curves;
  for (const Point& point : points) {
    if (!comparable(point)) {
      continue;
    }
    PointKey key = point.key;
    key.bytes = {};
    auto curve = std::ranges::find_if(curves, [&](const auto& other) { return other.first == key; });
    if (curve == curves.end()) {
      curve = curves.insert(curves.end(), {key, {}});
    }
    curve->second.push_back(&point);
  }
  std::vector<FittedCurve> result;
  for (auto& [key, of_curve] : curves) {
    if (of_curve.size() >= kMinSizes) {
      std::ranges::stable_sort(of_curve, {}, [](const Point* point) { return point->key.bytes; });
      result.push_back(fitted(key, of_curve));
    }
  }
  return result;
}

std::vector<std::string> fitted_sentences(std::span<const FittedCurve> curves) {
  std::vector<std::string> sentences;
  sentences.reserve(curves.size());
  for (const FittedCurve& curve : curves) {
    sentences.push_back(
        fmt::format("fitted to the measurements of {} on {} ranks: {} + S ÷ ({}) would be off by {} on "
                    "average; the prediction "
                    "is by {}",
                    curve.key.algorithm, curve.key.ranks, format(curve.latency),
                    curve.inverse_bandwidth.value > 0 ? format(inverse(curve.inverse_bandwidth)) : "no limit",
                    percent(curve.error), percent(curve.predicted_error)));
  }
  return sentences;
}

}  // namespace ringside
