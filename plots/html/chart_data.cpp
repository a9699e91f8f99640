#include <string_view>

#include <fmt/format.h>

#include "common/text.hpp"
#include "plots/charts/point_series.hpp"
#include "plots/html/page.hpp"
#include "results/codec/json_writer.hpp"

namespace ringside::plots {
namespace {

/// As Chart.js calls them; a turned triangle is its own with an angle.
std::string_view point_style(Shape shape) {
  switch (shape) {
    case Shape::circle:
      return "circle";
    case Shape::square:
      return "rect";
    case Shape::triangle:
    case Shape::triangle_down:
      return "triangle";
    case Shape::diamond:
      return "rectRot";
    case Shape::pentagon:
      return "star";
    case Shape::cross:
      return "crossRot";
  }
  return "circle";
}

std::vector<int> dash_lengths(Dash dash) {
  switch (dash) {
    case Dash::solid:
      return {};
    case Dash::dashed:
      return {8, 5};
    case Dash::dotted:
      return {2, 4};
    case Dash::dash_dot:
      return {8, 4, 2, 4};
  }
  return {};
}

/// `[x, y, low, high, size, text]`, an interval of no width where there is none.
void add_point(JsonWriter& to, double x, const PointKey& key, Seconds seconds, std::optional<Seconds> low,
               std::optional<Seconds> high, std::string_view interval) {
  std::string text = format(seconds);
  if (low && high) {
    text += fmt::format(", {} {}", interval, from_to(*low, *high));
  }
  to.element().begin('[');
  for (const double value : {x, seconds.value, low.value_or(seconds).value, high.value_or(seconds).value}) {
    to.element().add(value);
  }
  to.element().add(format(key.bytes));
  to.element().add(text);
  to.end(']');
}

void add_series(JsonWriter& to, const Series& series, const SeriesPen& pen) {
  const Stroke line = pen.line(series.algorithm);
  const MarkStyle mark = pen.mark(series.algorithm);
  to.element().begin('{');
  to.member("name").add(series.algorithm);
  to.member("color").add(fmt::format("#{:06x}", line.color.rgb));
  to.member("dash").begin('[');
  for (const int length : dash_lengths(line.dash)) {
    to.element().add(length);
  }
  to.end(']');
  to.member("shape").add(point_style(mark.shape));
  to.member("angle").add(mark.shape == Shape::triangle_down ? 180 : 0);
  to.member("predicted").begin('[');
  for (const auto& [bytes, point] : series.points) {
    if (has_prediction(point)) {
      add_point(to, pen.x(point.key), point.key, point.predicted->seconds, point.predicted->low,
                point.predicted->high, "90 % interval");
    }
  }
  to.end(']');
  to.member("measured").begin('[');
  for (const auto& [bytes, point] : series.points) {
    if (has_measurement(point)) {
      add_point(to, pen.mark_x(point.key), point.key, point.measured->seconds, point.measured->low,
                point.measured->high, "95 % interval");
    }
  }
  to.end(']');
  to.end('}');
}

}  // namespace

std::string chart_data(const std::vector<Point>& points) {
  JsonWriter json;
  json.begin('[');
  for (const PointGroup& group : group_points(points)) {
    const SeriesPen pen(group);
    for (const RanksPanel& panel : group.panels) {
      json.element().begin('{');
      json.member("title").add(fmt::format("{}, {}", group.description, count_of(panel.ranks, "rank")));
      json.member("ranks").add(panel.ranks);
      json.member("fills").add(pen.fills());
      json.member("sizes").begin('[');
      for (const std::int64_t bytes : group.sizes) {
        json.element().begin('[');
        json.element().add(bytes);
        json.element().add(format(Bytes{bytes}));
        json.end(']');
      }
      json.end(']');
      json.member("series").begin('[');
      for (const Series* series : pen.drawing_order(panel)) {
        add_series(json, *series, pen);
      }
      json.end(']');
      json.end('}');
    }
  }
  json.end(']');
  return json.take();
}

}  // namespace ringside::plots
