#include <array>
#include <map>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/mapped.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "plots/charts/point_series.hpp"
#include "plots/html/page.hpp"

namespace ringside::plots {
namespace {

using Json = nlohmann::ordered_json;

// By Shape and Dash, as Chart.js calls them; a turned triangle is its own with an angle.
constexpr std::array<const char*, 7> kPointStyles = {"circle",  "rect", "triangle", "triangle",
                                                     "rectRot", "star", "crossRot"};
const std::array<std::vector<int>, 4> kDashLengths = {{{}, {8, 5}, {2, 4}, {8, 4, 2, 4}}};

/// `[x, y, low, high, label, text]` of a prediction or measurement; without interval one of no width.
Json point_of(double x, const PointKey& key, const auto& of, std::string_view interval) {
  const std::optional<Seconds> low = of.low, high = of.high;
  const std::string range = low && high ? fmt::format(", {} {}", interval, from_to(*low, *high)) : "";
  return Json::array({x, of.seconds.value, low.value_or(of.seconds).value, high.value_or(of.seconds).value,
                      format(key.bytes), format(of.seconds) + range});
}

Json series_of(std::string_view name, Color color, Dash dash, Shape shape) {
  return {{"name", name},
          {"color", fmt::format("#{:06x}", color.rgb)},
          {"dash", kDashLengths.at(static_cast<std::size_t>(dash))},
          {"shape", kPointStyles.at(static_cast<std::size_t>(shape))},
          {"angle", shape == Shape::triangle_down ? 180 : 0},
          {"predicted", Json::array()},
          {"measured", Json::array()}};
}

Json series_of(const Series& series, const SeriesPen& pen) {
  const Stroke line = pen.line(series.algorithm);
  Json json = series_of(series.algorithm, line.color, line.dash, pen.mark(series.algorithm).shape);
  for (const auto& [bytes, point] : series.points) {
    if (has_prediction(point)) {
      json["predicted"].push_back(point_of(pen.x(point.key), point.key, *point.predicted, "90 % interval"));
    }
    if (has_measurement(point)) {
      json["measured"].push_back(
          point_of(pen.mark_x(point.key), point.key, *point.measured, "95 % interval"));
    }
  }
  return json;
}

Json panel_of(const HtmlCurves& chart) {
  std::map<double, std::string> sizes;
  Json all = Json::array();
  const auto point = [&](const XY& at) {
    const std::string& size = sizes[at.x] = chart.x_text(at.x);
    return Json::array({at.x, at.y, at.y, at.y, size, percent(at.y)});
  };
  for (std::size_t i = 0; const Curve& curve : chart.curves) {
    // Without the cross, which is native's.
    Json& series =
        all.emplace_back(series_of(curve.label, cycle_color(i), static_cast<Dash>(i % kDashLengths.size()),
                                   static_cast<Shape>(i % (kPointStyles.size() - 1))));
    ++i;
    series["predicted"] = mapped(curve.points, point);
    if (curve.mark) {
      series["measured"].push_back(point(*curve.mark));
    }
  }
  return {{"title", chart.title}, {"x", chart.x},   {"y", chart.y},
          {"fills", false},       {"sizes", sizes}, {"series", all}};
}

}  // namespace

std::string chart_data(const std::vector<Point>& points, const std::vector<HtmlCurves>& curves) {
  Json json = Json::array();
  for (const PointGroup& group : group_points(points)) {
    const SeriesPen pen(group);
    const Json sizes = mapped(group.sizes, [](std::int64_t bytes) {
      return Json::array({bytes, format(Bytes{bytes})});
    });
    for (const RanksPanel& panel : group.panels) {
      const Json all = mapped(pen.drawing_order(panel), [&](auto* it) { return series_of(*it, pen); });
      json.push_back({{"title", fmt::format("{}, {}", group.description, count_of(panel.ranks, "rank"))},
                      {"ranks", panel.ranks},
                      {"fills", pen.fills()},
                      {"sizes", sizes},
                      {"series", all}});
    }
  }
  for (const HtmlCurves& chart : curves) {
    json.push_back(panel_of(chart));
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace ringside::plots
