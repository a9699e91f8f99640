#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plots/charts/charts.hpp"
#include "plots/charts/point_series.hpp"
#include "plots/drawing/tics.hpp"

namespace ringside::plots {

/// How charts of points differ; all have a panel per number of ranks, message size on x.
struct SmallMultiples {
  std::string name;  ///< File name without the suffix of the group.
  std::string subtitle;
  std::vector<LegendEntry> legend;
  Axis y;  ///< Without tics.
  std::function<std::vector<Tic>(double pixels)> y_tics;
  /// Pixels at the top of each panel, beyond the end of `y`, that data leave free.
  double headroom = 0;
  /// Adds what stands in a panel whose place and axes are known.
  std::function<void(Panel&, const RanksPanel&)> fill;
};

/// The chart of each group of points, one figure per six numbers of ranks.
std::vector<Figure> draw_small_multiples(
    const std::vector<Point>& points, const ChartContext& context,
    const std::function<SmallMultiples(const PointGroup&, const SeriesPen&)>& chart_of);

/// A log range with room on both sides: `share` of it, and at least `least_factor`.
Range padded(const Range& range, double share, double least_factor);

}  // namespace ringside::plots
