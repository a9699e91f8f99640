#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "plots/palette.hpp"
#include "results/point.hpp"

/// Points sorted for drawing: files, panels in a file, series in a panel.
namespace ringside::plots {

struct Series {
  std::string algorithm;
  /// By message size; of several points at one size the last counts.
  std::map<std::int64_t, Point> points;
};

struct RanksPanel {
  int ranks = 1;
  std::vector<Series> series;  ///< In the order in which algorithms first appear.
};

/// Points that may share axes: of one collective, data type and operation.
struct PointGroup {
  std::string suffix;       ///< Of the file name; empty when there is one group alone.
  std::string description;  ///< `all_reduce`, with data type and operation where they tell groups apart.
  Collective collective = Collective::all_reduce;
  std::vector<std::string> algorithms;
  std::vector<RanksPanel> panels;  ///< By number of ranks, ascending.
};

std::vector<PointGroup> group_points(const std::vector<Point>& points);

/// The point has a predicted, a measured time that a log axis can show.
bool has_prediction(const Point& point);
bool has_measurement(const Point& point);

}  // namespace ringside::plots
