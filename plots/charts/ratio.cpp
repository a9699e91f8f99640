#include <algorithm>
#include <iterator>

#include "common/mapped.hpp"
#include "plots/charts/small_multiples.hpp"

namespace ringside::plots {
namespace {

constexpr Color kTenPercent{.rgb = kGreen.rgb, .opacity = 0.18};

double ratio_of(const Point& point) { return point.predicted->seconds.value / point.measured->seconds.value; }

/// Symmetric around 1, so that too slow and too fast are judged alike, and never narrower than a quarter.
Range ratio_range(const PointGroup& group) {
  Range range{.min = 0.8, .max = 1.25};
  for_each_point(group, [&](const Point& point) { range.include(ratio_of(point)); });
  const double reach = 1.08 * std::max(range.max, 1 / range.min);
  return {1 / reach, reach};
}

void add_series(Panel& panel, const Series& series, const SeriesPen& pen, const Range& range) {
  std::vector<XY> line;
  Marks marks{.style = pen.mark(series.algorithm)};
  for (const auto& [bytes, point] : series.points) {
    const auto over = [&](Seconds time) {
      const bool positive = time.value > 0;  // The lower end of an interval may be 0.
      return positive ? std::clamp(point.predicted->seconds.value / time.value, range.min, range.max)
                      : range.max;
    };
    const double x = pen.x(point.key);
    line.push_back({x, ratio_of(point)});
    marks.marks.push_back(
        {pen.mark_x(point.key), ratio_of(point), over(point.measured->high), over(point.measured->low)});
  }
  Stroke thin = pen.line(series.algorithm);
  thin.width = 1.5;
  panel.elements.emplace_back(Polyline{.points = std::move(line), .stroke = thin});
  panel.elements.emplace_back(std::move(marks));
}

}  // namespace

std::vector<Figure> ratio(const std::vector<Point>& points, const ChartContext& context) {
  std::vector<Point> both;
  std::ranges::copy_if(points, std::back_inserter(both),
                       [](const Point& point) { return has_prediction(point) && has_measurement(point); });
  return draw_small_multiples(both, context, [](const PointGroup& group, const SeriesPen& pen) {
    const Range range = ratio_range(group);
    std::vector<LegendEntry> legend = mapped(group.algorithms, [&](const std::string& algorithm) {
      return LegendEntry{.label = algorithm, .line = pen.line(algorithm), .mark = pen.mark(algorithm)};
    });
    legend.push_back({.label = "within 10 %", .band = kTenPercent});
    legend.push_back({.label = "above 1: predicted too slow"});
    return SmallMultiples{
        .name = "ratio",
        .subtitle =
            group.description + ": predicted over measured time, bars are 95 % intervals of the measurement",
        .legend = legend,
        .y = {.label = "predicted / measured time", .min = range.min, .max = range.max, .log = true},
        .y_tics = [range](double pixels) { return ratio_tics(range, pixels); },
        .fill =
            [&pen, range](Panel& panel, const RanksPanel& content) {
              panel.elements.emplace_back(
                  Band{.points = {{panel.x.min, 0.9, 1.1}, {panel.x.max, 0.9, 1.1}}, .fill = kTenPercent});
              panel.elements.emplace_back(Polyline{.points = {{panel.x.min, 1}, {panel.x.max, 1}},
                                                   .stroke = {.color = kBlack, .width = 1.2}});
              for (const Series* series : pen.drawing_order(content)) {
                add_series(panel, *series, pen, range);
              }
            },
    };
  });
}

}  // namespace ringside::plots
