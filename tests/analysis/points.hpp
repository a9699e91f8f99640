#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/point.hpp"

/// Short ways to write points down for tests.
namespace ringside::examples {

inline constexpr std::int64_t kKiB = 1024;
inline constexpr std::int64_t kMiB = 1024 * kKiB;

/// A point whose times are in milliseconds; what is left out is absent. The measured interval is ±1 %.
struct Example {
  std::string algorithm;
  int ranks = 4;
  std::int64_t bytes = kMiB;
  std::optional<double> predicted_ms = {};
  std::optional<double> measured_ms = {};
};

inline Point point(const Example& example) {
  Point result;
  result.key.algorithm = example.algorithm;
  result.key.ranks = example.ranks;
  result.key.bytes = {example.bytes};
  if (example.predicted_ms) {
    result.predicted.emplace().seconds = {*example.predicted_ms * 1e-3};
  }
  if (example.measured_ms) {
    const double seconds = *example.measured_ms * 1e-3;
    Measurement& measured = result.measured.emplace();
    measured.seconds = {seconds};
    measured.low = {0.99 * seconds};
    measured.high = {1.01 * seconds};
    measured.backend = Backend::gloo;
  }
  return result;
}

inline std::vector<Point> points(const std::vector<Example>& examples) {
  std::vector<Point> result;
  for (const Example& example : examples) {
    result.push_back(point(example));
  }
  return result;
}

/// The same point with another outcome and no time.
inline Point without_time(Point point, Outcome outcome, std::string note = "") {
  point.measured = Measurement{};
  point.measured->outcome = outcome;
  point.measured->note = std::move(note);
  return point;
}

inline Point with_predicted_interval(Point point, double low_ms, double high_ms) {
  point.predicted->low = Seconds{low_ms * 1e-3};
  point.predicted->high = Seconds{high_ms * 1e-3};
  return point;
}

inline Point with_measured_interval(Point point, double low_ms, double high_ms) {
  point.measured->low = {low_ms * 1e-3};
  point.measured->high = {high_ms * 1e-3};
  return point;
}

}  // namespace ringside::examples
