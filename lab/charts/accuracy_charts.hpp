#pragma once

#include <vector>

#include "lab/evaluation/evaluation.hpp"
#include "plots/charts/charts.hpp"

/// Pictures of `ringside-lab evaluate`.
namespace ringside::plots {

/// `accuracy_scatter`: predicted (held out) against measured seconds, a panel per class, with the band of ±25
/// %; all_reduce and the other collectives in a colour each. The other charts are of all_reduce alone.
std::vector<Figure> accuracy_scatter(const AccuracyReport& report, const ChartContext& context);

/// `accuracy_by_size`: median error over systems by class and message size, beside the two other models'.
std::vector<Figure> accuracy_by_size(const AccuracyReport& report, const ChartContext& context);

/// `accuracy_curves`: the fair systems with the most points of each class and number of ranks, bus bandwidth
/// measured and predicted (held out) with its interval; at most six.
std::vector<Figure> accuracy_curves(const AccuracyReport& report, const ChartContext& context);

}  // namespace ringside::plots
