#include "analysis/comparison/comparison.hpp"

#include "analysis/comparison/accuracy.hpp"
#include "analysis/comparison/cell.hpp"
#include "analysis/comparison/verdict.hpp"

namespace ringside {
namespace {

std::optional<BytesPerSecond> bus_bandwidth(const Point& point, Side side) {
  const std::optional<Interval<double>> time = timing(point, side);
  return time ? bus_bandwidth(point.key.collective, point.key.ranks, point.key.bytes, {time->typical})
              : std::nullopt;
}

/// Empty with fewer than two, or where the best two cannot be told apart. One rank exchanges nothing.
std::string fastest(const Cell& cell) {
  if (cell.question.ranks == 1) {
    return "";
  }
  Side side = Side::measured;
  std::vector<Contender> contenders = ranking(cell, side);
  if (contenders.empty()) {
    side = Side::predicted;
    contenders = ranking(cell, side);
  }
  const bool clear = contenders.size() >= 2 && clearly_faster(cell, contenders[0].algorithm,
                                                              contenders[1].algorithm, side, kWorthHaving);
  return clear ? contenders.front().algorithm : "";
}

}  // namespace

std::optional<BytesPerSecond> bus_bandwidth(Collective collective, int ranks, Bytes bytes, Seconds time) {
  const double moved = ranks > 1 ? bus_share(collective, ranks) * static_cast<double>(bytes.value) : 0;
  return moved > 0 && time.value > 0 ? std::optional(BytesPerSecond{moved / time.value}) : std::nullopt;
}

std::vector<ComparisonRow> comparison(std::span<const Point> points) {
  std::vector<ComparisonRow> rows;
  for (const Cell& cell : cells(points)) {
    const std::string winner = fastest(cell);
    for (const Point* point : cell.points) {
      const std::optional<double> error = relative_error(*point);
      rows.push_back({.key = point->key,
                      .predicted = point->predicted,
                      .measured = point->measured,
                      .ratio = error ? std::optional(1 + *error) : std::nullopt,
                      .predicted_busbw = bus_bandwidth(*point, Side::predicted),
                      .measured_busbw = bus_bandwidth(*point, Side::measured),
                      .fastest = point->key.algorithm == winner,
                      .first_of_group = point == cell.points.front()});
    }
  }
  return rows;
}

}  // namespace ringside
