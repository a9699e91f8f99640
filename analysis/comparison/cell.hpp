#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/interval.hpp"
#include "results/point.hpp"
#include "results/point_key.hpp"

/// Points side by side: what every comparison starts from.
namespace ringside {

/// Less than this is no difference worth having.
inline constexpr double kWorthHaving = 0.05;

/// Which half of a point is meant.
enum class Side { predicted, measured };

/// Positive seconds with their interval; all three alike where none is known. None when this half is absent, has no time (outcome other than ok) or took none (one rank alone is predicted as 0).
std::optional<Interval<double>> timing(const Point& point, Side side);

/// All algorithms at one number of ranks and one size.
struct Cell {
  PointKey question;                 ///< The key that its points share; `algorithm` is empty.
  std::vector<const Point*> points;  ///< In the order of the span that they point into.
};

/// Sorted by collective, ranks, size, dtype and op. `points` has one point per key and must outlive the result.
std::vector<Cell> cells(std::span<const Point> points);

/// None when the cell does not have this algorithm with a time.
std::optional<Interval<double>> timing(const Cell& cell, std::string_view algorithm, Side side);

struct Contender {
  std::string algorithm;
  Interval<double> timing;
};

/// Everything but `native` that has a time, the fastest first (of equals the one that comes first in the cell).
std::vector<Contender> ranking(const Cell& cell, Side side);

/// How many times as long `slow` takes as `fast`, with its interval; all three alike where none is known. None where one of
/// them has no time. The errors of two predictions from one description go together, so the ends of their intervals are
/// compared with each other; those of calibrated predictions and of medians are independent and add in quadrature, of logarithms.
std::optional<Interval<double>> times_as_long(const Cell& cell, std::string_view slow, std::string_view fast,
                                              Side side);

/// Whether `slow` takes more than (1 + `gap`) times as long as `fast`, and the two can be told apart: no part of the
/// interval of their ratio is below 1 (predicted), or their intervals do not overlap (measured).
bool clearly_faster(const Cell& cell, std::string_view fast, std::string_view slow, Side side, double gap);

}  // namespace ringside
