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

/// Whether `slow` takes more than (1 + `gap`) times as long as `fast` and, where intervals are known, all of its interval
/// lies above. Of predictions only the times are compared: the errors of two predictions for one machine go together.
bool clearly_faster(const Interval<double>& fast, const Interval<double>& slow, Side side, double gap);

}  // namespace ringside
