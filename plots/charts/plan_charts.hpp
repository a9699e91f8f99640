#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/interval.hpp"
#include "plots/charts/charts.hpp"

/// The charts of `ringside plan` (docs/planning.md). Pure functions from plain data to figures, none
/// when there is nothing to draw; plots/charts/charts.hpp has `draw`, and `timeline` for the fifth.
namespace ringside::plots {

inline constexpr double kMaxPlanLabel = 330;  ///< Pixels that the name of an offer takes at most.

struct CostPoint {
  std::string label;
  Interval<double> seconds;
  Interval<double> cost;
  bool pareto = false;
  bool recommended = false;
  bool tied = false;  ///< With the best: then none is recommended.
};

struct CostChart {
  std::vector<CostPoint> points;
  std::string currency;
  std::string of;                       ///< What takes the time and has the cost: `the run`.
  std::optional<double> deadline = {};  ///< Seconds.
  std::optional<double> budget = {};
};

/// `plan_cost`: cost against time, both with their interval, with the line of offers unbeaten in both.
std::vector<Figure> cost_against_time(const CostChart& chart, const ChartContext& context);

/// One step: its parts add up to it.
struct StepBar {
  std::string label;
  double compute = 0;                          ///< Seconds without communication beside it.
  double hidden = 0;                           ///< Computing while gradients are on their way.
  double exposed = 0;                          ///< Only waiting for gradients.
  double waiting = 0;                          ///< For the slowest GPU.
  std::optional<Interval<double>> whole = {};  ///< All of it, as a 90 % interval.
};

/// `plan_steps`: a bar per offer.
std::vector<Figure> step_bars(const std::vector<StepBar>& bars, const ChartContext& context);

struct Curve {
  std::string label;
  std::vector<XY> points;
  std::optional<XY> mark = {};                         ///< Where this offer is.
  std::optional<Interval<double>> mark_interval = {};  ///< Where the mark's y is, 90 %.
};

/// `plan_scaling`: efficiency (1 = N GPUs are N times as fast as one) against the number of GPUs.
std::vector<Figure> scaling_efficiency(const std::vector<Curve>& curves, const ChartContext& context);

/// `plan_bandwidth`: share of the step that is exposed communication against the bandwidth of the links in
/// bytes per second, with the thresholds of 5 % and 10 %.
std::vector<Figure> exposed_against_bandwidth(const std::vector<Curve>& curves, const ChartContext& context);

}  // namespace ringside::plots
