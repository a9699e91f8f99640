#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "plots/charts/charts.hpp"
#include "plots/charts/plan_charts.hpp"
#include "plots/drawing/palette.hpp"
#include "plots/drawing/text.hpp"
#include "plots/drawing/tics.hpp"

namespace ringside::plots {
namespace {

/// Wide enough to have tics, and a little wider than what is drawn.
Range padded(Range range) {
  const double middle = std::sqrt(range.min * range.max);
  return {.min = std::min(range.min / 1.15, middle / 1.8), .max = std::max(range.max * 1.15, middle * 1.8)};
}

NamedUnit time_unit_of(double seconds) {
  return seconds >= 2 * 86400  ? NamedUnit{"days", 86400}
         : seconds >= 2 * 3600 ? NamedUnit{"hours", 3600}
         : seconds >= 120      ? NamedUnit{"minutes", 60}
                               : NamedUnit{"seconds", 1};
}

constexpr Stroke kFrontStroke{.color = kBlack, .width = 1.5, .dash = Dash::dashed};
constexpr Stroke kConditionStroke{.color = kVermillion, .width = 1.5, .dash = Dash::dotted};

Color color_of(const CostPoint& point) {
  return point.recommended || point.tied ? kVermillion : point.pareto ? kBlue : kGrey;
}

MarkStyle style_of(const CostPoint& point) {
  return {.color = color_of(point),
          .shape = point.recommended || point.tied ? Shape::diamond
                   : point.pareto                  ? Shape::circle
                                                   : Shape::square,
          .size = point.recommended ? 2.0 : 1.3};
}

/// Both intervals of a point, thinner than its mark.
void add_intervals(Panel& panel, const CostPoint& point) {
  const Color color{.rgb = color_of(point).rgb, .opacity = point.pareto ? 0.7 : 0.3};
  const Stroke stroke{.color = color, .width = 1.2};
  const auto clamp_x = [&](double x) { return std::clamp(x, panel.x.min, panel.x.max); };
  const auto clamp_y = [&](double y) { return std::clamp(y, panel.y.min, panel.y.max); };
  panel.elements.emplace_back(Polyline{
      {{clamp_x(point.seconds.low), point.cost.typical}, {clamp_x(point.seconds.high), point.cost.typical}},
      stroke});
  panel.elements.emplace_back(Polyline{
      {{point.seconds.typical, clamp_y(point.cost.low)}, {point.seconds.typical, clamp_y(point.cost.high)}},
      stroke});
}

/// Labels beside their marks: the front's wherever they stand best, then the others' if they cover nothing.
void add_labels(Panel& panel, const std::vector<CostPoint>& points) {
  const double x_scale = panel.area.width / std::log(panel.x.max / panel.x.min);
  const double y_scale = panel.area.height / std::log(panel.y.max / panel.y.min);
  const auto pixel = [&](const CostPoint& point) {
    return XY{std::log(point.seconds.typical / panel.x.min) * x_scale,
              std::log(panel.y.max / point.cost.typical) * y_scale};
  };
  LabelPlacer placer;
  std::vector<const CostPoint*> order;
  for (const CostPoint& point : points) {
    const XY at = pixel(point);
    placer.block({at.x - 8, at.y - 8, 16, 16});
    order.push_back(&point);
  }
  std::ranges::stable_sort(order, [](const CostPoint* a, const CostPoint* b) {
    return std::pair(!a->recommended, !a->pareto) < std::pair(!b->recommended, !b->pareto);
  });
  for (const CostPoint* point : order) {
    const std::string text = shortened(point->label, kSmallFont, kMaxPlanLabel);
    const double width = text_width(text, kSmallFont) + 4;
    const XY at = pixel(*point);
    std::vector<XY> centers;
    for (const double dy : {0.0, -16.0, 16.0, -32.0, 32.0, -48.0, 48.0, -64.0, 64.0}) {
      for (const double side : {1.0, -1.0}) {
        const double x = at.x + side * (width / 2 + 12);
        if (x - width / 2 >= 0 && x + width / 2 <= panel.area.width && at.y + dy > 8 &&
            at.y + dy < panel.area.height - 8) {
          centers.push_back({x, at.y + dy});
        }
      }
    }
    if (centers.empty()) {
      continue;
    }
    const bool needed = point->recommended || point->pareto;
    const std::optional<XY> center =
        needed ? placer.place(centers, width, 16) : placer.place_free(centers, width, 16);
    if (center) {
      const XY at_center{panel.x.min * std::exp(center->x / x_scale),
                         panel.y.max / std::exp(center->y / y_scale)};
      panel.elements.emplace_back(boxed_label(at_center, text, color_of(*point)));
    }
  }
}

/// From the fastest offer of the front to the cheapest, in steps: between two of them nothing is on offer.
Polyline front_of(const std::vector<CostPoint>& points) {
  std::vector<XY> front;
  for (const CostPoint& point : points) {
    if (point.pareto) {
      front.push_back({point.seconds.typical, point.cost.typical});
    }
  }
  std::ranges::sort(front, {}, &XY::x);
  std::vector<XY> steps;
  for (const XY& at : front) {
    if (!steps.empty()) {
      steps.push_back({at.x, steps.back().y});
    }
    steps.push_back(at);
  }
  return Polyline{std::move(steps), kFrontStroke};
}

std::vector<LegendEntry> legend_of(const CostChart& chart) {
  const bool tied = std::ranges::any_of(chart.points, [](const CostPoint& point) { return point.tied; });
  std::vector<LegendEntry> legend = {
      {.label = tied ? "tie" : "recommended",
       .mark = MarkStyle{.color = kVermillion, .shape = Shape::diamond, .size = 2},
       .interval = true},
      {.label = "no offer is cheaper and faster",
       .line = kFrontStroke,
       .mark = MarkStyle{.color = kBlue},
       .interval = true},
      {.label = "other offers", .mark = MarkStyle{.color = kGrey, .shape = Shape::square}, .interval = true}};
  if (chart.deadline || chart.budget) {
    legend.push_back({.label = chart.deadline && chart.budget ? "deadline and budget"
                               : chart.deadline               ? "deadline"
                                                              : "budget",
                      .line = kConditionStroke});
  }
  return legend;
}

}  // namespace

std::vector<Figure> cost_against_time(const CostChart& chart, const ChartContext& context) {
  if (chart.points.empty()) {
    return {};
  }
  const auto first = chart.points.front();
  Range seconds{first.seconds.typical, first.seconds.typical};
  Range cost{first.cost.typical, first.cost.typical};
  for (const CostPoint& point : chart.points) {
    seconds.include(point.seconds.low);
    seconds.include(point.seconds.high);
    cost.include(point.cost.low);
    cost.include(point.cost.high);
  }
  seconds = padded(seconds);
  cost = padded(cost);

  Figure figure{.name = "plan_cost", .width = width_for(context.size, 1200), .height = 800};
  const Rect area = lay_out_page(
      figure, page_text(context, fmt::format("cost against time of {}; bars are 90 % intervals", chart.of)),
      legend_of(chart));
  Panel panel{.area = lay_out_panels(area, 1, 1).areas[0]};
  const NamedUnit unit = time_unit_of(std::sqrt(seconds.min * seconds.max));
  panel.x = {.label = fmt::format("time of {} ({})", chart.of, unit.name),
             .min = seconds.min,
             .max = seconds.max,
             .log = true,
             .tics = decade_tics(seconds, unit.value, panel.area.width, true)};
  panel.y = {.label = fmt::format("cost of {} ({})", chart.of, chart.currency),
             .min = cost.min,
             .max = cost.max,
             .log = true,
             .tics = decade_tics(cost, 1, panel.area.height, false)};
  const auto inside = [](const Axis& axis, std::optional<double> at) {
    return at && *at > axis.min && *at < axis.max;
  };
  if (inside(panel.x, chart.deadline)) {
    panel.elements.emplace_back(
        Polyline{{{*chart.deadline, panel.y.min}, {*chart.deadline, panel.y.max}}, kConditionStroke});
  }
  if (inside(panel.y, chart.budget)) {
    panel.elements.emplace_back(
        Polyline{{{panel.x.min, *chart.budget}, {panel.x.max, *chart.budget}}, kConditionStroke});
  }
  for (const CostPoint& point : chart.points) {
    add_intervals(panel, point);
  }
  panel.elements.emplace_back(front_of(chart.points));
  for (const CostPoint& point : chart.points) {
    panel.elements.emplace_back(
        Marks{.marks = {{point.seconds.typical, point.cost.typical}}, .style = style_of(point)});
  }
  add_labels(panel, chart.points);
  figure.panels.push_back(std::move(panel));
  return {figure};
}

}  // namespace ringside::plots
