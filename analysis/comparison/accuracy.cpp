#include "analysis/comparison/accuracy.hpp"

#include <cmath>
#include <map>
#include <numeric>
#include <string>

#include "analysis/comparison/comparison.hpp"
#include "common/numbers.hpp"

namespace ringside {
namespace {

/// Sums for one algorithm, or for all.
struct Tally {
  std::vector<double> abs_errors;
  double sum_log_ratio = 0;
  int with_interval = 0;
  int covered = 0;
  int cells = 0;
  int cells_agreed = 0;

  void add(const Point& point, double error) {
    abs_errors.push_back(std::abs(error));
    sum_log_ratio += std::log1p(error);
    if (point.predicted->low && point.predicted->high) {
      const Seconds measured = point.measured->seconds;
      ++with_interval;
      covered += *point.predicted->low <= measured && measured <= *point.predicted->high ? 1 : 0;
    }
  }

  void add_cell(bool agrees) {
    ++cells;
    cells_agreed += agrees ? 1 : 0;
  }

  Accuracy record() const {
    const auto fraction = [](int part, int whole) {
      return whole > 0 ? std::optional(static_cast<double>(part) / whole) : std::nullopt;
    };
    const auto count = static_cast<double>(abs_errors.size());
    return {.points = static_cast<int>(abs_errors.size()),
            .mape = std::accumulate(abs_errors.begin(), abs_errors.end(), 0.0) / count,
            .median_abs_error = summarize(abs_errors).median,
            .bias = std::expm1(sum_log_ratio / count),
            .coverage = fraction(covered, with_interval),
            .winner_agreement = fraction(cells_agreed, cells)};
  }
};

/// The cell with only those points that have both times.
Cell with_both_times(const Cell& cell) {
  Cell result = cell;
  std::erase_if(result.points, [](const Point* point) { return !relative_error(*point); });
  return result;
}

}  // namespace

bool is_scored(const Point& point) {
  if (!point.predicted || !point.measured || point.predicted->known) {
    return false;
  }
  // Ranks that share a GPU do not use the links that a specification is about.
  return !point.measured->shared_gpu || point.predicted->source == CostSource::calibrated;
}

std::optional<double> relative_error(const Point& point) {
  if (!is_scored(point)) {
    return std::nullopt;
  }
  const std::optional<Interval<double>> predicted = timing(point, Side::predicted);
  const std::optional<Interval<double>> measured = timing(point, Side::measured);
  return predicted && measured ? std::optional(predicted->typical / measured->typical - 1) : std::nullopt;
}

std::vector<Accuracy> accuracy(std::span<const Point> points) {
  Tally all;
  std::map<std::string, Tally> by_algorithm;
  std::vector<std::string> order;
  for (const Point& point : points) {
    if (const std::optional<double> error = relative_error(point)) {
      const auto [tally, is_new] = by_algorithm.try_emplace(point.key.algorithm);
      if (is_new) {
        order.push_back(point.key.algorithm);
      }
      tally->second.add(point, *error);
      all.add(point, *error);
    }
  }
  if (order.empty()) {
    return {};
  }

  for (const Cell& cell : cells(points)) {
    const Cell known = with_both_times(cell);
    const std::vector<Contender> predicted = ranking(known, Side::predicted);
    if (cell.question.ranks < 2 || predicted.size() < 2) {
      continue;
    }
    const std::string& winner = predicted.front().algorithm;
    const std::string best = ranking(known, Side::measured).front().algorithm;
    const bool agrees = !clearly_faster(known, best, winner, Side::measured, kClearWin);
    by_algorithm[winner].add_cell(agrees);
    all.add_cell(agrees);
  }

  std::vector<Accuracy> records;
  for (const std::string& algorithm : order) {
    records.push_back(by_algorithm[algorithm].record());
    records.back().algorithm = algorithm;
  }
  records.push_back(all.record());
  return records;
}

double width_of_intervals(std::span<const Point> points) {
  std::vector<double> widths;
  for (const Point& point : points) {
    if (is_scored(point) && point.predicted->low && point.predicted->high &&
        point.predicted->low->value > 0) {
      widths.push_back(point.predicted->high->value / point.predicted->low->value);
    }
  }
  return widths.empty() ? 1 : summarize(widths).median;
}

const Point* worst_prediction(std::span<const Point> points) {
  const Point* worst = nullptr;
  double worst_size = -1;
  for (const Point& point : points) {
    const std::optional<double> error = relative_error(point);
    if (error && std::abs(std::log1p(*error)) > worst_size) {
      worst = &point;
      worst_size = std::abs(std::log1p(*error));
    }
  }
  return worst;
}

}  // namespace ringside
