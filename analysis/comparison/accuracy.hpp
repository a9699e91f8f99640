#pragma once

#include <optional>
#include <span>
#include <vector>

#include "results/codec/record.hpp"

/// How good predictions were, over the points that have both a predicted and a measured time.
namespace ringside {

/// A measured winner is clear when it is faster by more than this and 95 % intervals do not overlap.
inline constexpr double kClearWin = 0.10;

/// Whether a measurement of this point says how good its prediction is: not where the prediction was given
/// this very time, nor where ranks that share a GPU meet a prediction from a specification.
bool is_scored(const Point& point);

/// predicted / measured − 1: 0.1 = the prediction is 10 % too long. None without both times or unscored.
std::optional<double> relative_error(const Point& point);

/// One record for each algorithm that has a point with both times, in the order of first appearance, then one
/// for all together (no algorithm); none when no point has both.
///
/// With r = predicted / measured of each point: mape = mean |r − 1|; median_abs_error = median |r − 1|;
/// bias = geometric mean of r, minus 1 (0.1 = predictions are 10 % too long, and halving and doubling cancel
/// out). coverage = how many measured medians lie within [low, high] of their prediction, of those that have
/// an interval; absent when none has. winner_agreement looks at every cell (ranks > 1, size) in which at
/// least two algorithms other than `native` have both times. The cell agrees when no algorithm was measured
/// clearly faster (kClearWin) than the one that is predicted to be the fastest. For all: of all cells; for
/// one algorithm: of the cells that it was predicted to win. Absent without such cells.
std::vector<Accuracy> accuracy(std::span<const Point> points);

/// The point whose |log(predicted / measured)| is the largest; nullptr when no point has both times.
const Point* worst_prediction(std::span<const Point> points);

/// The end of a predicted interval over its start, in the median of those that are scored; 1 without any.
double width_of_intervals(std::span<const Point> points);

}  // namespace ringside
