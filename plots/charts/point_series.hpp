#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "plots/drawing/layout.hpp"
#include "plots/drawing/palette.hpp"
#include "plots/drawing/tics.hpp"
#include "results/point.hpp"

/// Points sorted for drawing (files, panels, series) and drawn the same way on every chart.
namespace ringside::plots {

struct Series {
  std::string algorithm;
  /// By message size; of several points at one size the last counts.
  std::map<std::int64_t, Point> points = {};
};

struct RanksPanel {
  int ranks = 1;
  std::vector<Series> series = {};  ///< In the order in which algorithms first appear.
};

/// Points that may share axes: of one collective, data type and operation.
struct PointGroup {
  std::string suffix;       ///< Suffix of the file name; empty when there is one group alone.
  std::string description;  ///< `all_reduce`, with data type and operation where they tell groups apart.
  Collective collective = Collective::all_reduce;
  std::vector<std::string> algorithms;
  std::set<std::int64_t> sizes;
  std::vector<RanksPanel> panels;  ///< By number of ranks, ascending.
};

/// Leaves out points that a log axis cannot show: without a time, and of no bytes. Throws Error{bad_input}
/// for times that are no machine's, below 1e-30 s or above 1e30 s.
std::vector<PointGroup> group_points(const std::vector<Point>& points);

bool has_prediction(const Point& point);
bool has_measurement(const Point& point);
/// There is a prediction, and it has an interval.
bool has_interval(const Point& point);
/// The times of a point that are drawn, and the ends of their intervals, which may be 0.
std::vector<Seconds> times_of(const Point& point);

/// Calls `visit` for every point of a group.
void for_each_point(const PointGroup& group, const std::function<void(const Point&)>& visit);

/// How a time of a point becomes a value of the y axis.
using Transform = std::function<double(Seconds time, const PointKey& key)>;

/// So few sizes leave room between them.
inline constexpr std::size_t kFewSizes = 3;

class SeriesPen {
 public:
  explicit SeriesPen(const PointGroup& group);

  Stroke line(const std::string& algorithm) const;
  MarkStyle mark(const std::string& algorithm) const;

  /// A sample per algorithm, then what lines, bands and bars mean.
  std::vector<LegendEntry> legend() const;

  /// Series with solid lines first: where two lines coincide, the gaps of the upper one show the lower one.
  std::vector<const Series*> drawing_order(const RanksPanel& panel) const;

  /// Where on the x axis a prediction stands. With one size alone, algorithms stand side by side …
  double x(const PointKey& key) const;
  /// … and with few sizes measurements do.
  double mark_x(const PointKey& key) const;

  /// Whether intervals are areas: more than three on each other are one grey, and thin lines instead.
  bool fills() const;

  /// A line through one point is a short stroke, or it would not be seen.
  void add_line(Panel& panel, std::vector<XY> points, const Stroke& stroke) const;

  /// Bands of predictions, then their lines, then measurements: these are never hidden.
  void add_series(Panel& panel, const RanksPanel& content, const Transform& transform) const;

 private:
  const PointGroup& group_;
  std::map<std::string, SeriesStyle> styles_;
};

}  // namespace ringside::plots
