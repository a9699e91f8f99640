#include "plots/charts/point_series.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <tuple>

#include "common/failures.hpp"
#include "common/mapped.hpp"

namespace ringside::plots {
namespace {

/// Nobody waits for the Planck time, nor for 10^22 years; beyond, their quotients overflow.
constexpr double kShortest = 1e-30;
constexpr double kLongest = 1e30;

bool drawable(Seconds time) { return std::isfinite(time.value) && time.value > 0; }

void require_range(const Point& point) {
  for (const Seconds time : times_of(point)) {
    // The lower end of an interval may be 0.
    if (time.value != 0 && !(time.value >= kShortest && time.value <= kLongest)) {
      throw bad_input("{} of {} on {} takes {:.3g} s, which no chart can show: {:g} s to {:g} s",
                      point.key.algorithm, format(point.key.bytes), point.key.ranks, time.value, kShortest,
                      kLongest);
    }
  }
}

RanksPanel& panel_of(std::vector<RanksPanel>& panels, int ranks) {
  auto place = std::ranges::find_if(panels, [&](const RanksPanel& each) { return each.ranks >= ranks; });
  if (place == panels.end() || place->ranks != ranks) {
    place = panels.insert(place, RanksPanel{.ranks = ranks});
  }
  return *place;
}

Series& series_of(RanksPanel& panel, const std::string& algorithm) {
  const auto place = std::ranges::find(panel.series, algorithm, &Series::algorithm);
  return place != panel.series.end() ? *place : panel.series.emplace_back(Series{.algorithm = algorithm});
}

/// Half of the width of a stroke that stands for a line through one point, as a factor on a log axis.
double reach(const Panel& panel) { return std::pow(panel.x.max / panel.x.min, 0.025); }

Band band_of(const Series& series, const SeriesPen& pen, const Transform& transform) {
  Band band;
  for (const auto& [bytes, point] : series.points) {
    if (has_interval(point)) {
      const double a = transform(*point.predicted->low, point.key);
      const double b = transform(*point.predicted->high, point.key);
      band.points.push_back({pen.x(point.key), std::min(a, b), std::max(a, b)});
    }
  }
  return band;
}

/// An interval as two thin lines.
void add_edges(Panel& panel, const Band& band, Stroke stroke) {
  stroke.width = 0.8;
  stroke.color.opacity = 0.6;
  Polyline low{.stroke = stroke};
  Polyline high{.stroke = stroke};
  for (const Band::At& at : band.points) {
    low.points.push_back({at.x, at.low});
    high.points.push_back({at.x, at.high});
  }
  panel.elements.emplace_back(std::move(low));
  panel.elements.emplace_back(std::move(high));
}

std::vector<XY> line_of(const Series& series, const SeriesPen& pen, const Transform& transform) {
  std::vector<XY> line;
  for (const auto& [bytes, point] : series.points) {
    if (has_prediction(point)) {
      line.push_back({pen.x(point.key), transform(point.predicted->seconds, point.key)});
    }
  }
  return line;
}

Marks marks_of(const Series& series, const SeriesPen& pen, const Transform& transform) {
  Marks marks;
  for (const auto& [bytes, point] : series.points) {
    if (has_measurement(point)) {
      const double a = transform(point.measured->low, point.key);
      const double b = transform(point.measured->high, point.key);
      marks.marks.push_back({.x = pen.mark_x(point.key),
                             .y = transform(point.measured->seconds, point.key),
                             .low = std::min(a, b),
                             .high = std::max(a, b)});
    }
  }
  return marks;
}

}  // namespace

bool has_prediction(const Point& point) { return point.predicted && drawable(point.predicted->seconds); }

bool has_measurement(const Point& point) {
  return point.measured && point.measured->outcome == Outcome::ok && drawable(point.measured->seconds);
}

bool has_interval(const Point& point) {
  return has_prediction(point) && point.predicted->low && point.predicted->high;
}

std::vector<Seconds> times_of(const Point& point) {
  std::vector<Seconds> times;
  if (has_prediction(point)) {
    times.push_back(point.predicted->seconds);
  }
  if (has_interval(point)) {
    times.insert(times.end(), {*point.predicted->low, *point.predicted->high});
  }
  if (has_measurement(point)) {
    times.insert(times.end(), {point.measured->seconds, point.measured->low, point.measured->high});
  }
  return times;
}

std::vector<PointGroup> group_points(const std::vector<Point>& points) {
  using Kind = std::tuple<Collective, DataType, ReduceOp>;
  std::map<Kind, PointGroup> groups;
  std::set<DataType> types;
  std::set<ReduceOp> ops;
  for (const Point& point : points) {
    const PointKey& key = point.key;
    if ((!has_prediction(point) && !has_measurement(point)) || key.bytes.value <= 0) {
      continue;
    }
    require_range(point);
    types.insert(key.dtype);
    ops.insert(key.op);
    PointGroup& group = groups[{key.collective, key.dtype, key.op}];
    if (std::ranges::find(group.algorithms, key.algorithm) == group.algorithms.end()) {
      group.algorithms.push_back(key.algorithm);
    }
    group.sizes.insert(key.bytes.value);
    series_of(panel_of(group.panels, key.ranks), key.algorithm)
        .points.insert_or_assign(key.bytes.value, point);
  }

  std::vector<PointGroup> result;
  for (auto& [kind, group] : groups) {
    const auto& [collective, type, op] = kind;
    group.collective = collective;
    group.description = name(collective);
    group.description += types.size() > 1 ? " of " + std::string(name(type)) : "";
    group.description += ops.size() > 1 ? " (" + std::string(name(op)) + ")" : "";
    if (groups.size() > 1) {
      group.suffix = "_" + std::string(name(collective));
      group.suffix += types.size() > 1 ? "_" + std::string(name(type)) : "";
      group.suffix += ops.size() > 1 ? "_" + std::string(name(op)) : "";
    }
    result.push_back(std::move(group));
  }
  return result;
}

void for_each_point(const PointGroup& group, const std::function<void(const Point&)>& visit) {
  for (const RanksPanel& panel : group.panels) {
    for (const Series& series : panel.series) {
      for (const auto& [bytes, point] : series.points) {
        visit(point);
      }
    }
  }
}

SeriesPen::SeriesPen(const PointGroup& group) : group_(group), styles_(series_styles(group.algorithms)) {}

Stroke SeriesPen::line(const std::string& algorithm) const { return styles_.at(algorithm).line(2.5); }

MarkStyle SeriesPen::mark(const std::string& algorithm) const { return styles_.at(algorithm).mark(1.4); }

std::vector<LegendEntry> SeriesPen::legend() const {
  bool predictions = false;
  bool intervals = false;
  bool measurements = false;
  for_each_point(group_, [&](const Point& point) {
    predictions = predictions || has_prediction(point);
    intervals = intervals || has_interval(point);
    measurements = measurements || has_measurement(point);
  });
  std::vector<LegendEntry> legend;
  for (const std::string& algorithm : group_.algorithms) {
    LegendEntry& entry = legend.emplace_back(LegendEntry{.label = algorithm});
    if (predictions) {
      entry.line = line(algorithm);
    }
    if (measurements) {
      entry.mark = mark(algorithm);
    }
  }
  if (predictions) {
    LegendEntry& entry =
        legend.emplace_back(LegendEntry{.label = "predicted", .line = Stroke{.color = kGrey}});
    if (intervals && !fills()) {
      entry.label += "; thin: 90 % interval";
    } else if (intervals) {
      entry.label += ", 90 % interval";
      entry.band = Color{.rgb = kGrey.rgb, .opacity = 0.2};
    }
  }
  if (measurements) {
    legend.push_back({.label = "measured, 95 % interval",
                      .mark = MarkStyle{.color = kGrey, .shape = Shape::circle, .size = 1.4},
                      .interval = true});
  }
  return legend;
}

std::vector<const Series*> SeriesPen::drawing_order(const RanksPanel& panel) const {
  std::vector<const Series*> order = mapped(panel.series, [](const Series& series) { return &series; });
  std::stable_partition(order.begin(), order.end(), [&](const Series* series) {
    return styles_.at(series->algorithm).dash == Dash::solid;
  });
  return order;
}

double SeriesPen::x(const PointKey& key) const {
  return group_.sizes.size() > 1 ? static_cast<double>(key.bytes.value) : mark_x(key);
}

double SeriesPen::mark_x(const PointKey& key) const {
  const auto bytes = static_cast<double>(key.bytes.value);
  if (group_.sizes.size() > kFewSizes) {
    return bytes;
  }
  // All algorithms of a size take this much of the way to the next one.
  constexpr double kShare = 0.3;
  double room = 0.55;
  if (group_.sizes.size() > 1) {
    room = std::numeric_limits<double>::infinity();
    for (auto next = std::next(group_.sizes.begin()); next != group_.sizes.end(); ++next) {
      room = std::min(room, std::log(static_cast<double>(*next) / static_cast<double>(*std::prev(next))));
    }
    room *= kShare;
  }
  const auto& names = group_.algorithms;
  const auto index = static_cast<double>(std::ranges::find(names, key.algorithm) - names.begin());
  const double step = room / static_cast<double>(names.size());
  return bytes * std::exp(step * (index - static_cast<double>(names.size() - 1) / 2));
}

bool SeriesPen::fills() const {
  constexpr std::ptrdiff_t kMostFilled = 3;
  return std::ranges::all_of(group_.panels, [](const RanksPanel& panel) {
    return std::ranges::count_if(panel.series, [](const Series& series) {
             return std::ranges::any_of(series.points,
                                        [](const auto& at) { return has_interval(at.second); });
           }) <= kMostFilled;
  });
}

void SeriesPen::add_line(Panel& panel, std::vector<XY> points, const Stroke& stroke) const {
  if (points.size() == 1) {
    const XY only = points.front();
    points = {{only.x / reach(panel), only.y}, {only.x * reach(panel), only.y}};
  }
  panel.elements.emplace_back(Polyline{.points = std::move(points), .stroke = stroke});
}

void SeriesPen::add_series(Panel& panel, const RanksPanel& content, const Transform& transform) const {
  const std::vector<const Series*> order = drawing_order(content);
  const bool filled = fills();
  for (const Series* series : order) {
    Band band = band_of(*series, *this, transform);
    band.fill = {.rgb = styles_.at(series->algorithm).color.rgb, .opacity = 0.15};
    if (band.points.size() == 1) {
      const Band::At only = band.points.front();
      band.points = {{only.x / reach(panel), only.low, only.high},
                     {only.x * reach(panel), only.low, only.high}};
    }
    if (filled) {
      panel.elements.emplace_back(std::move(band));
    } else {
      add_edges(panel, band, line(series->algorithm));
    }
  }
  for (const Series* series : order) {
    add_line(panel, line_of(*series, *this, transform), line(series->algorithm));
  }
  for (const Series* series : order) {
    Marks marks = marks_of(*series, *this, transform);
    marks.style = mark(series->algorithm);
    panel.elements.emplace_back(std::move(marks));
  }
}

}  // namespace ringside::plots
