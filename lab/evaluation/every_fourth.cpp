#include "lab/evaluation/every_fourth.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace ringside {

namespace {

constexpr std::size_t kStep = 4;

double log2_bytes(const Point& point) { return std::log2(static_cast<double>(point.key.bytes.value)); }

bool smaller(const Point& a, const Point& b) { return a.key.bytes < b.key.bytes; }

}  // namespace

std::vector<Point> every_fourth(std::vector<Point> points) {
  std::sort(points.begin(), points.end(), smaller);
  std::vector<Point> known;
  if (points.size() < 2 * kStep + 1 || points.front().key.collective != Collective::all_reduce) {
    return known;
  }
  for (std::size_t i = 0; i < points.size(); i += kStep) {
    known.push_back(points[i]);
  }
  if (known.back().key != points.back().key) {
    known.push_back(points.back());
  }
  return known;
}

std::vector<EvaluatedPoint> on_lines_between(const std::vector<Point>& points,
                                             const std::vector<Point>& known) {
  std::vector<EvaluatedPoint> result;
  for (const Point& point : points) {
    const auto above = std::upper_bound(known.begin(), known.end(), point, smaller);
    if (above == known.begin() || above == known.end() || std::prev(above)->key.bytes == point.key.bytes) {
      continue;
    }
    const Point& below = *std::prev(above);
    const double share = (log2_bytes(point) - log2_bytes(below)) / (log2_bytes(*above) - log2_bytes(below));
    result.push_back({.model = EvaluatedModel::line_every4,
                      .band = size_band(static_cast<double>(point.key.bytes.value)),
                      .ranks = point.key.ranks,
                      .bytes = point.key.bytes,
                      .measured = point.measured->seconds.value,
                      .predicted = std::exp(std::lerp(std::log(below.measured->seconds.value),
                                                      std::log(above->measured->seconds.value), share)),
                      .interval = {},
                      .limits = {}});
  }
  return result;
}

}  // namespace ringside
