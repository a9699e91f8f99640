#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/interval.hpp"
#include "common/names.hpp"
#include "common/units.hpp"
#include "results/point.hpp"

/// Points side by side: what every comparison starts from, and the rows of its table.
namespace ringside {

/// S/t times a factor for the number of ranks: 2(N−1)/N for all_reduce, (N−1)/N for reduce_scatter,
/// all_gather and gather, 1 for broadcast and reduce. None where the factor or the time is 0 (one rank
/// moves nothing). Source: nccl-tests, doc/PERFORMANCE.md and, for gather, src/gather.cu.
std::optional<BytesPerSecond> bus_bandwidth(Collective collective, int ranks, Bytes bytes, Seconds time);

struct ComparisonRow {
  PointKey key;
  std::optional<Prediction> predicted = {};
  std::optional<Measurement> measured = {};
  std::optional<double> ratio = {};  ///< predicted / measured; above 1 the prediction is too long
  std::optional<BytesPerSecond> predicted_busbw = {};
  std::optional<BytesPerSecond> measured_busbw = {};
  /// Clearly the fastest of its ranks and size but `native`, of two at least, as verdicts judge it: by
  /// measured times where there are any, else by predicted ones.
  bool fastest = false;
  bool first_of_group =
      false;  ///< Whether it is the first of its ranks and size: where a table may leave a gap.
};

/// Sorted by collective, ranks and size; within those in the order of `points`, which has one point per key.
std::vector<ComparisonRow> comparison(std::span<const Point> points);

/// Less than this is no difference worth having.
inline constexpr double kWorthHaving = 0.05;

/// Which half of a point is meant.
enum class Side { predicted, measured };

/// Positive seconds with their interval; all three alike where none is known. None without this half or its
/// time, and where it is 0 (one rank).
std::optional<Interval<double>> timing(const Point& point, Side side);

/// All algorithms at one number of ranks and one size.
struct Cell {
  PointKey question;                 ///< The key that its points share; `algorithm` is empty.
  std::vector<const Point*> points;  ///< In the order of the span that they point into.
};

/// Sorted by collective, ranks, size, dtype and op. `points` has one point per key and must outlive it.
std::vector<Cell> cells(std::span<const Point> points);

/// Those with more than one rank, by number of ranks.
std::map<int, std::vector<Cell>> cells_by_ranks(std::span<const Point> points);

/// A cell and the half of its points that answers a question.
struct Deciding {
  const Cell* cell = nullptr;
  Side side = Side::measured;
};

/// The last cell of which `decides(cell, side)` holds; measured times come first.
template <typename Decides>
std::optional<Deciding> deciding_cell(std::span<const Cell> cells, const Decides& decides) {
  for (const Side side : {Side::measured, Side::predicted}) {
    const auto last =
        std::find_if(cells.rbegin(), cells.rend(), [&](const Cell& cell) { return decides(cell, side); });
    if (last != cells.rend()) {
      return Deciding{.cell = &*last, .side = side};
    }
  }
  return std::nullopt;
}

/// None when the cell does not have this algorithm with a time.
std::optional<Interval<double>> timing(const Cell& cell, std::string_view algorithm, Side side);

struct Contender {
  std::string algorithm;
  Interval<double> timing;
};

/// Everything but `native` that has a time, the fastest first (of equals the first in the cell).
std::vector<Contender> ranking(const Cell& cell, Side side);

/// How many times as long `slow` takes as `fast`, with its interval; all three alike where none is known.
/// Errors of predictions from one description go together: ends of intervals are compared. Those of
/// calibrated predictions and medians are independent: logarithms add in quadrature. None without both times.
std::optional<Interval<double>> times_as_long(const Cell& cell, std::string_view slow, std::string_view fast,
                                              Side side);

/// Whether `slow` takes more than (1 + `gap`) times as long as `fast`, and the two can be told apart: no part
/// of the interval of their ratio is below 1 (predicted), or their intervals do not overlap (measured).
bool clearly_faster(const Cell& cell, std::string_view fast, std::string_view slow, Side side, double gap);

/// The first of ranking(). None with fewer than two, or where the best two cannot be told apart.
std::optional<std::string> fastest(const Cell& cell, Side side);

/// What some key does to the time of each algorithm.
struct KeyLines {
  std::string key;
  std::vector<std::string> labels;  ///< What the values are called, which grow.
  std::vector<double> values;
  struct Line {
    std::string algorithm;
    std::vector<std::optional<double>> seconds;  ///< One for each value.
  };
  std::vector<Line> lines;
};

}  // namespace ringside
