#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/point_key.hpp"
#include "results/point.hpp"

/// Points side by side: what every comparison starts from.
namespace ringside {

/// Which half of a point is meant.
enum class Side { predicted, measured };

/// A time that can be compared: positive. low = high = seconds where no interval is known.
struct Timing {
  double seconds = 0;
  double low = 0;
  double high = 0;
};

/// None when this half is absent, has no time (outcome other than ok) or took none (one rank alone is predicted as 0).
std::optional<Timing> timing(const Point& point, Side side);

/// All algorithms at one number of ranks and one size.
struct Cell {
  PointKey question;                 ///< The key that its points share; `algorithm` is empty.
  std::vector<const Point*> points;  ///< In the order of the span that they point into.
};

/// Sorted by collective, ranks, size, dtype and op. `points` has one point per key and must outlive the result.
std::vector<Cell> cells(std::span<const Point> points);

/// None when the cell does not have this algorithm with a time.
std::optional<Timing> timing(const Cell& cell, std::string_view algorithm, Side side);

struct Contender {
  std::string algorithm;
  Timing timing;
};

/// Everything but `native` that has a time, the fastest first (of equals the one that comes first in the cell).
std::vector<Contender> ranking(const Cell& cell, Side side);

/// Whether `slow` takes more than (1 + `gap`) times as long as `fast` and, where intervals are known, all of its interval
/// lies above. Of predictions only the times are compared: the errors of two predictions for one machine go together.
bool clearly_faster(const Timing& fast, const Timing& slow, Side side, double gap);

}  // namespace ringside
