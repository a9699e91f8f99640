#include "analysis/comparison/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "analysis/comparison/accuracy.hpp"
#include "schedule/registry.hpp"

namespace ringside {
namespace {

std::optional<BytesPerSecond> bus_bandwidth(const Point& point, Side side) {
  const std::optional<Interval<double>> time = timing(point, side);
  return time ? bus_bandwidth(point.key.collective, point.key.ranks, point.key.bytes, {time->typical})
              : std::nullopt;
}

/// One rank exchanges nothing.
std::optional<std::string> fastest(const Cell& cell) {
  const bool measured = !ranking(cell, Side::measured).empty();
  return cell.question.ranks > 1 ? fastest(cell, measured ? Side::measured : Side::predicted) : std::nullopt;
}

/// Whether the predicted time follows from a machine's description by our simulation.
bool is_described(const Cell& cell, std::string_view algorithm) {
  return std::ranges::any_of(cell.points, [&](const Point* point) {
    return point->key.algorithm == algorithm && point->predicted &&
           point->predicted->source != CostSource::calibrated && point->predicted->fidelity != Fidelity::nccl;
  });
}

}  // namespace

std::optional<BytesPerSecond> bus_bandwidth(Collective collective, int ranks, Bytes bytes, Seconds time) {
  const double moved = ranks > 1 ? bus_share(collective, ranks) * static_cast<double>(bytes.value) : 0;
  return moved > 0 && time.value > 0 ? std::optional(BytesPerSecond{moved / time.value}) : std::nullopt;
}

std::vector<ComparisonRow> comparison(std::span<const Point> points) {
  std::vector<ComparisonRow> rows;
  for (const Cell& cell : cells(points)) {
    const std::optional<std::string> winner = fastest(cell);
    for (const Point* point : cell.points) {
      const std::optional<double> error = relative_error(*point);
      rows.push_back({.key = point->key,
                      .predicted = point->predicted,
                      .measured = point->measured,
                      .ratio = error ? std::optional(1 + *error) : std::nullopt,
                      .predicted_busbw = bus_bandwidth(*point, Side::predicted),
                      .measured_busbw = bus_bandwidth(*point, Side::measured),
                      .fastest = winner == point->key.algorithm,
                      .first_of_group = point == cell.points.front()});
    }
  }
  return rows;
}

std::optional<Interval<double>> timing(const Point& point, Side side) {
  Interval<double> result;
  if (side == Side::predicted && point.predicted) {
    result = values_of(point.predicted->interval());
  }
  if (side == Side::measured && point.measured && point.measured->outcome == Outcome::ok) {
    const Measurement& measured = *point.measured;
    const bool has_interval = measured.low.value > 0 && measured.high.value > 0;
    result = {.low = has_interval ? measured.low.value : measured.seconds.value,
              .typical = measured.seconds.value,
              .high = has_interval ? measured.high.value : measured.seconds.value};
  }
  return result.typical > 0 ? std::optional(result) : std::nullopt;
}

std::vector<Cell> cells(std::span<const Point> points) {
  const auto order = [](const PointKey& a, const PointKey& b) {
    const auto tied = [](const PointKey& key) {
      return std::tie(key.collective, key.ranks, key.bytes, key.dtype, key.op);
    };
    return tied(a) < tied(b);
  };
  std::map<PointKey, Cell, decltype(order)> by_question(order);
  for (const Point& point : points) {
    Cell& cell = by_question[point.key];
    cell.question = point.key;
    cell.question.algorithm.clear();
    cell.points.push_back(&point);
  }
  std::vector<Cell> result;
  result.reserve(by_question.size());
  for (auto& [question, cell] : by_question) {
    result.push_back(std::move(cell));
  }
  return result;
}

std::map<int, std::vector<Cell>> cells_by_ranks(std::span<const Point> points) {
  std::map<int, std::vector<Cell>> by_ranks;
  for (Cell& cell : cells(points)) {
    if (cell.question.ranks > 1) {
      by_ranks[cell.question.ranks].push_back(std::move(cell));
    }
  }
  return by_ranks;
}

std::optional<Interval<double>> timing(const Cell& cell, std::string_view algorithm, Side side) {
  for (const Point* point : cell.points) {
    if (point->key.algorithm == algorithm) {
      return timing(*point, side);
    }
  }
  return std::nullopt;
}

std::vector<Contender> ranking(const Cell& cell, Side side) {
  std::vector<Contender> contenders;
  for (const Point* point : cell.points) {
    const std::optional<Interval<double>> time = timing(*point, side);
    if (time && point->key.algorithm != kNative) {
      contenders.push_back({.algorithm = point->key.algorithm, .timing = *time});
    }
  }
  std::ranges::stable_sort(contenders, {}, [](const Contender& one) { return one.timing.typical; });
  return contenders;
}

std::optional<std::string> fastest(const Cell& cell, Side side) {
  const std::vector<Contender> contenders = ranking(cell, side);
  const bool clear = contenders.size() >= 2 && clearly_faster(cell, contenders[0].algorithm,
                                                              contenders[1].algorithm, side, kWorthHaving);
  return clear ? std::optional(contenders.front().algorithm) : std::nullopt;
}

std::optional<Interval<double>> times_as_long(const Cell& cell, std::string_view slow, std::string_view fast,
                                              Side side) {
  const std::optional<Interval<double>> above = timing(cell, slow, side);
  const std::optional<Interval<double>> below = timing(cell, fast, side);
  if (!above || !below) {
    return std::nullopt;
  }
  const double typical = above->typical / below->typical;
  if (side == Side::predicted && is_described(cell, slow) && is_described(cell, fast)) {
    const auto [low, high] = std::minmax({above->low / below->low, typical, above->high / below->high});
    return Interval<double>{.low = low, .typical = typical, .high = high};
  }
  const auto spread = [](double of_slow, double of_fast) {
    return std::exp(std::hypot(std::log(of_slow), std::log(of_fast)));
  };
  return Interval<double>{
      .low = typical / spread(above->typical / above->low, below->high / below->typical),
      .typical = typical,
      .high = typical * spread(above->high / above->typical, below->typical / below->low)};
}

bool clearly_faster(const Cell& cell, std::string_view fast, std::string_view slow, Side side, double gap) {
  const std::optional<Interval<double>> ratio = times_as_long(cell, slow, fast, side);
  if (!ratio || ratio->typical <= 1 + gap) {
    return false;
  }
  return side == Side::predicted ? ratio->low > 1
                                 : timing(cell, slow, side)->low > timing(cell, fast, side)->high;
}

}  // namespace ringside
