#include "plots/point_series.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

namespace ringside::plots {
namespace {

bool drawable(Seconds time) { return std::isfinite(time.value) && time.value > 0; }

RanksPanel& panel_of(std::vector<RanksPanel>& panels, int ranks) {
  auto place =
      std::find_if(panels.begin(), panels.end(), [&](const RanksPanel& each) { return each.ranks >= ranks; });
  if (place == panels.end() || place->ranks != ranks) {
    place = panels.insert(place, RanksPanel{.ranks = ranks, .series = {}});
  }
  return *place;
}

Series& series_of(RanksPanel& panel, const std::string& algorithm) {
  const auto place = std::find_if(panel.series.begin(), panel.series.end(),
                                  [&](const Series& each) { return each.algorithm == algorithm; });
  return place != panel.series.end()
             ? *place
             : panel.series.emplace_back(Series{.algorithm = algorithm, .points = {}});
}

}  // namespace

bool has_prediction(const Point& point) { return point.predicted && drawable(point.predicted->seconds); }

bool has_measurement(const Point& point) {
  return point.measured && point.measured->outcome == Outcome::ok && drawable(point.measured->seconds);
}

std::vector<PointGroup> group_points(const std::vector<Point>& points) {
  using Kind = std::tuple<Collective, DataType, ReduceOp>;
  std::map<Kind, PointGroup> groups;
  std::set<DataType> types;
  std::set<ReduceOp> ops;
  for (const Point& point : points) {
    const bool has_time = has_prediction(point) || has_measurement(point);
    if (!has_time || point.key.bytes.value <= 0) {
      continue;
    }
    const PointKey& key = point.key;
    types.insert(key.dtype);
    ops.insert(key.op);
    PointGroup& group = groups[{key.collective, key.dtype, key.op}];
    if (std::find(group.algorithms.begin(), group.algorithms.end(), key.algorithm) ==
        group.algorithms.end()) {
      group.algorithms.push_back(key.algorithm);
    }
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

}  // namespace ringside::plots
