// 400 lines: the five charts of a plan share bars, colours and how an offer is called.
#include "plots/charts/plan_charts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "common/numbers.hpp"
#include "plots/drawing/page.hpp"
#include "plots/drawing/palette.hpp"
#include "plots/drawing/text.hpp"
#include "plots/drawing/tics.hpp"

namespace ringside::plots {
namespace {

constexpr Font kLabelFont{.size = 13};
constexpr double kMaxLabel = 330;
constexpr std::array kShapes = {Shape::circle,        Shape::square,  Shape::triangle,
                                Shape::triangle_down, Shape::diamond, Shape::pentagon};
constexpr std::array kDashes = {Dash::solid, Dash::dashed, Dash::dash_dot, Dash::dotted};

/// 1, 2 and 5 times powers of ten of a log axis in a unit; all are labelled where there is room.
std::vector<Tic> decade_tics(const Range& range, double unit, double pixels, bool horizontal) {
  std::vector<Tic> tics;
  double free_from = -std::numeric_limits<double>::infinity();
  const double scale = pixels / std::log(range.max / range.min);
  const int first = static_cast<int>(std::floor(std::log10(range.min / unit)));
  const int last = static_cast<int>(std::ceil(std::log10(range.max / unit)));
  for (int decade = first; decade <= last; ++decade) {
    for (const double step : {1.0, 2.0, 5.0}) {
      const double value = step * std::pow(10.0, decade);
      const double at = value * unit;
      if (at < range.min * (1 - 1e-9) || at > range.max * (1 + 1e-9)) {
        continue;
      }
      const std::string label = fmt::format("{:.6g}", value);
      const double pixel = std::log(at / range.min) * scale;
      const double half = horizontal ? text_width(label, {}) / 2 + 6 : 11;
      const bool fits = pixel - half >= free_from;
      tics.push_back({at, fits ? label : ""});
      free_from = fits ? pixel + half : free_from;
    }
  }
  return tics;
}

/// Wide enough to have tics, and a little wider than what is drawn.
Range padded(Range range) {
  const double middle = std::sqrt(range.min * range.max);
  return {.min = std::min(range.min / 1.15, middle / 1.8), .max = std::max(range.max * 1.15, middle * 1.8)};
}

struct TimeUnit {
  const char* name;
  double seconds;
};

TimeUnit time_unit_of(double seconds) {
  return seconds >= 2 * 86400  ? TimeUnit{"days", 86400}
         : seconds >= 2 * 3600 ? TimeUnit{"hours", 3600}
         : seconds >= 120      ? TimeUnit{"minutes", 60}
                               : TimeUnit{"seconds", 1};
}

Polyline line(std::vector<XY> points, const Stroke& stroke) {
  return {.points = std::move(points), .stroke = stroke};
}

// --- Cost against time ----------------------------------------------------------------------------------------------

constexpr Stroke kFrontStroke{.color = kBlack, .width = 1.5, .dash = Dash::dashed};
constexpr Stroke kLimitStroke{.color = kVermillion, .width = 1.5, .dash = Dash::dotted};

Color color_of(const CostPoint& point) {
  return point.recommended ? kVermillion : point.pareto ? kBlue : kGrey;
}

MarkStyle style_of(const CostPoint& point) {
  return {.color = color_of(point),
          .shape = point.recommended ? Shape::diamond
                   : point.pareto    ? Shape::circle
                                     : Shape::square,
          .size = point.recommended ? 2.0 : 1.3};
}

/// Both intervals of a point, thinner than its mark.
void add_intervals(Panel& panel, const CostPoint& point) {
  const Color color{.rgb = color_of(point).rgb, .opacity = point.pareto ? 0.7 : 0.3};
  const Stroke stroke{.color = color, .width = 1.2};
  const auto clamp_x = [&](double x) { return std::clamp(x, panel.x.min, panel.x.max); };
  const auto clamp_y = [&](double y) { return std::clamp(y, panel.y.min, panel.y.max); };
  panel.elements.emplace_back(line(
      {{clamp_x(point.seconds.low), point.cost.typical}, {clamp_x(point.seconds.high), point.cost.typical}},
      stroke));
  panel.elements.emplace_back(line(
      {{point.seconds.typical, clamp_y(point.cost.low)}, {point.seconds.typical, clamp_y(point.cost.high)}},
      stroke));
}

/// Labels beside their marks: the front's wherever they stand best, then the others' as long as they cover nothing.
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
  std::stable_sort(order.begin(), order.end(), [](const CostPoint* a, const CostPoint* b) {
    return std::pair(!a->recommended, !a->pareto) < std::pair(!b->recommended, !b->pareto);
  });
  for (const CostPoint* point : order) {
    const std::string text = shortened(point->label, kLabelFont, kMaxLabel);
    const double width = text_width(text, kLabelFont) + 4;
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
    const std::optional<XY> place =
        needed ? placer.place(centers, width, 16) : placer.place_free(centers, width, 16);
    if (!place) {
      continue;
    }
    const XY center = *place;
    panel.elements.emplace_back(
        Text{.at = {panel.x.min * std::exp(center.x / x_scale), panel.y.max / std::exp(center.y / y_scale)},
             .text = text,
             .align = Align::center,
             .font = kLabelFont,
             .color = color_of(*point),
             .opaque = true});
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
  std::sort(front.begin(), front.end(), [](const XY& a, const XY& b) { return a.x < b.x; });
  std::vector<XY> steps;
  for (const XY& at : front) {
    if (!steps.empty()) {
      steps.push_back({at.x, steps.back().y});
    }
    steps.push_back(at);
  }
  return line(std::move(steps), kFrontStroke);
}

// --- Curves ---------------------------------------------------------------------------------------------------------

SeriesStyle style_at(std::size_t index) {
  return {.color = cycle_color(index),
          .dash = kDashes[index % kDashes.size()],
          .shape = kShapes[index % kShapes.size()]};
}

std::vector<LegendEntry> legend_of(const std::vector<Curve>& curves, bool marks) {
  std::vector<LegendEntry> legend;
  for (std::size_t index = 0; index < curves.size(); ++index) {
    const SeriesStyle style = style_at(index);
    LegendEntry entry{.label = shortened(curves[index].label, {}, kMaxLabel),
                      .line = Stroke{.color = style.color, .width = 2, .dash = style.dash}};
    if (marks) {
      entry.mark = MarkStyle{.color = style.color, .shape = style.shape};
    }
    legend.push_back(std::move(entry));
  }
  return legend;
}

/// Shares of 1 as percent.
Axis share_axis(const std::string& label, double max, double pixels) {
  Axis axis{.label = label, .min = 0, .max = max};
  axis.tics = linear_tics({0, max}, 0.01, pixels);
  return axis;
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

  std::vector<LegendEntry> legend = {
      {.label = "recommended",
       .mark = MarkStyle{.color = kVermillion, .shape = Shape::diamond, .size = 2},
       .interval = true},
      {.label = "nothing is cheaper and faster",
       .line = kFrontStroke,
       .mark = MarkStyle{.color = kBlue},
       .interval = true},
      {.label = "other offers", .mark = MarkStyle{.color = kGrey, .shape = Shape::square}, .interval = true}};
  if (chart.deadline || chart.budget) {
    legend.push_back({.label = chart.deadline && chart.budget ? "deadline and budget"
                               : chart.deadline               ? "deadline"
                                                              : "budget",
                      .line = kLimitStroke});
  }
  Figure figure{.name = "plan_cost", .width = 1200, .height = 800};
  const Rect area = lay_out_page(
      figure, page_text(context, fmt::format("cost against time of {}; bars are 90 % intervals", chart.of)),
      legend);
  Panel panel{.area = lay_out_panels(area, 1, 1).areas[0]};
  const TimeUnit unit = time_unit_of(std::sqrt(seconds.min * seconds.max));
  panel.x = {.label = fmt::format("time of {} ({})", chart.of, unit.name),
             .min = seconds.min,
             .max = seconds.max,
             .log = true,
             .tics = decade_tics(seconds, unit.seconds, panel.area.width, true)};
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
        line({{*chart.deadline, panel.y.min}, {*chart.deadline, panel.y.max}}, kLimitStroke));
  }
  if (inside(panel.y, chart.budget)) {
    panel.elements.emplace_back(
        line({{panel.x.min, *chart.budget}, {panel.x.max, *chart.budget}}, kLimitStroke));
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

namespace {

struct StepPart {
  const char* label;
  double StepBar::*length;
  Color color;
};
constexpr std::array kStepParts = {
    StepPart{"compute", &StepBar::compute, kSkyBlue},
    StepPart{"compute with communication hidden behind it", &StepBar::hidden, kBlue},
    StepPart{"exposed communication", &StepBar::exposed, kVermillion},
    StepPart{"waiting for the slowest GPU", &StepBar::waiting, kGrey}};
constexpr Stroke kStepInterval{.color = kBlack, .width = 1.5};

double length_of(const StepBar& bar) { return bar.compute + bar.hidden + bar.exposed + bar.waiting; }

/// Only what some bar has.
std::vector<LegendEntry> legend_of(const std::vector<StepBar>& bars) {
  std::vector<LegendEntry> legend;
  for (const StepPart& part : kStepParts) {
    if (std::any_of(bars.begin(), bars.end(), [&](const StepBar& bar) { return bar.*part.length > 0; })) {
      legend.push_back({.label = part.label, .band = part.color});
    }
  }
  if (std::any_of(bars.begin(), bars.end(), [](const StepBar& bar) { return bar.whole.has_value(); })) {
    legend.push_back({.label = "90 % interval", .line = kStepInterval});
  }
  return legend;
}

/// Where the axis ends: at the slowest end of an interval, but no farther than leaves the bars something to show.
double end_of_axis(const std::vector<StepBar>& bars) {
  constexpr double kMostOfLongest = 2.5;
  double longest = 0;
  double slowest = 0;
  for (const StepBar& bar : bars) {
    longest = std::max(longest, length_of(bar));
    slowest = std::max(slowest, bar.whole ? bar.whole->high : length_of(bar));
  }
  return 1.005 * std::clamp(slowest, longest, kMostOfLongest * longest);
}

/// The whole interval, also where the axis cuts it.
std::string text_of(const StepBar& bar) {
  std::string text = percent(bar.exposed / length_of(bar)) + " exposed";
  if (bar.whole) {
    text += fmt::format(", {} to {}", format(Seconds{bar.whole->low}), format(Seconds{bar.whole->high}));
  }
  return text;
}

void add_bar(const StepBar& bar, double top, Panel& panel, Boxes& boxes) {
  double left = 0;
  for (const StepPart& part : kStepParts) {
    if (bar.*part.length > 0) {
      boxes.boxes.push_back({left, left + bar.*part.length, top + 0.15, top + 0.85, part.color});
    }
    left += bar.*part.length;
  }
  if (bar.whole) {
    const double low = std::min(bar.whole->low, panel.x.max);
    const double high = std::min(bar.whole->high, panel.x.max);
    panel.elements.emplace_back(line({{low, top + 0.5}, {high, top + 0.5}}, kStepInterval));
    panel.elements.emplace_back(line({{low, top + 0.35}, {low, top + 0.65}}, kStepInterval));
    if (high < panel.x.max) {
      panel.elements.emplace_back(line({{high, top + 0.35}, {high, top + 0.65}}, kStepInterval));
    }
  }
  panel.elements.emplace_back(
      Text{.at = {1.01 * panel.x.max, top + 0.5}, .text = text_of(bar), .font = kLabelFont, .color = kBlack});
}

}  // namespace

std::vector<Figure> step_bars(const std::vector<StepBar>& bars, const ChartContext& context) {
  if (bars.empty()) {
    return {};
  }
  double widest = 0;
  double widest_text = 0;
  for (const StepBar& bar : bars) {
    widest = std::max(widest, std::min(kMaxLabel, text_width(bar.label, {})));
    widest_text = std::max(widest_text, text_width(text_of(bar), kLabelFont));
  }
  const auto count = static_cast<double>(bars.size());
  Figure figure{
      .name = "plan_steps", .width = 1200, .height = static_cast<int>(std::max(420.0, 34 * count + 230))};
  const Rect area = lay_out_page(figure, page_text(context, "what one step consists of"), legend_of(bars));
  Panel panel{.area =
                  lay_out_panels(area, 1, 1,
                                 {.left = widest + 40, .right = widest_text + 30, .top = 14, .bottom = 62})
                      .areas[0]};
  panel.x.max = end_of_axis(bars);
  const NamedUnit unit = time_unit({panel.x.max});
  panel.x = {.label = fmt::format("time of a step ({})", unit.name), .min = 0, .max = panel.x.max};
  panel.x.tics = linear_tics({0, panel.x.max}, unit.value, panel.area.width);
  panel.y = {.label = "", .min = count, .max = 0};
  Boxes boxes{.border = Stroke{.color = kWhite, .width = 0.8}};
  for (std::size_t index = 0; index < bars.size(); ++index) {
    const auto top = static_cast<double>(index);
    panel.y.tics.push_back({top + 0.5, shortened(bars[index].label, {}, kMaxLabel)});
    add_bar(bars[index], top, panel, boxes);
  }
  panel.elements.insert(panel.elements.begin(), std::move(boxes));
  figure.panels.push_back(std::move(panel));
  return {figure};
}

std::vector<Figure> scaling_efficiency(const std::vector<Curve>& curves, const ChartContext& context) {
  double most = 0;
  for (const Curve& curve : curves) {
    for (const XY& point : curve.points) {
      most = std::max(most, point.x);
    }
  }
  if (most < 2) {
    return {};
  }
  Figure figure{.name = "plan_scaling", .width = 1200, .height = 750};
  const Rect area = lay_out_page(
      figure, page_text(context, "scaling efficiency: 100 % = N GPUs are N times as fast as one"),
      legend_of(curves, true));
  Panel panel{.area = lay_out_panels(area, 1, 1).areas[0]};
  panel.x = {.label = "GPUs", .min = 0.8, .max = most * 1.04, .log = most > 16};
  for (int gpus = 1; gpus <= static_cast<int>(most); gpus += (panel.x.log ? gpus : 1)) {
    panel.x.tics.push_back({static_cast<double>(gpus), fmt::format("{}", gpus)});
  }
  panel.y = share_axis("efficiency (%)", 1.05, panel.area.height);
  for (std::size_t index = 0; index < curves.size(); ++index) {
    const SeriesStyle style = style_at(index);
    panel.elements.emplace_back(
        line(curves[index].points, {.color = style.color, .width = 2, .dash = style.dash}));
    Marks marks{.style = {.color = style.color, .shape = style.shape}};
    for (const XY& point : curves[index].points) {
      marks.marks.push_back({point.x, point.y});
    }
    panel.elements.emplace_back(std::move(marks));
  }
  figure.panels.push_back(std::move(panel));
  return {figure};
}

namespace {

Marks::Mark with_interval(const Curve& curve) {
  Marks::Mark mark{curve.mark->x, curve.mark->y};
  mark.low = curve.mark_interval ? curve.mark_interval->low : mark.y;
  mark.high = curve.mark_interval ? curve.mark_interval->high : mark.y;
  return mark;
}

/// Marks that would stand on each other stand side by side, so that no interval hides another: factors by which they move on the
/// logarithmic axis, by index of the curve.
std::vector<double> side_by_side(const std::vector<Curve>& curves, const Range& rates, double pixels) {
  constexpr double kApart = 9;  // Pixels.
  const double step = std::pow(rates.max / rates.min, kApart / pixels);
  std::vector<std::size_t> order;
  for (std::size_t index = 0; index < curves.size(); ++index) {
    if (curves[index].mark) {
      order.push_back(index);
    }
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t index) { return curves[index].mark->x; });
  std::vector<double> factors(curves.size(), 1);
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first + 1;
    while (end < order.size() && curves[order[end]].mark->x < curves[order[end - 1]].mark->x * step) {
      ++end;
    }
    const double middle = static_cast<double>(end - first - 1) / 2;
    for (std::size_t place = first; place < end; ++place) {
      factors[order[place]] = std::pow(step, static_cast<double>(place - first) - middle);
    }
    first = end;
  }
  return factors;
}

}  // namespace

std::vector<Figure> exposed_against_bandwidth(const std::vector<Curve>& curves, const ChartContext& context) {
  Range rates{std::numeric_limits<double>::infinity(), 0};
  for (const Curve& curve : curves) {
    for (const XY& point : curve.points) {
      rates.include(point.x);
    }
  }
  if (rates.max <= 0) {
    return {};
  }
  constexpr Stroke kThreshold{.color = kBlack, .width = 1.2, .dash = Dash::dotted};
  std::vector<LegendEntry> legend = legend_of(curves, false);
  const bool intervals = std::any_of(curves.begin(), curves.end(),
                                     [](const Curve& curve) { return curve.mark_interval.has_value(); });
  legend.push_back({.label = intervals ? "as offered, 90 % interval" : "as offered",
                    .mark = MarkStyle{.color = kBlack, .size = 1.6},
                    .interval = intervals});
  legend.push_back({.label = "5 % and 10 %", .line = kThreshold});
  Figure figure{.name = "plan_bandwidth", .width = 1200, .height = 780};
  const Rect area = lay_out_page(
      figure, page_text(context, "exposed communication, if all links of a machine were faster or slower"),
      legend);
  Panel panel{.area = lay_out_panels(area, 1, 1).areas[0]};
  constexpr double kGiga = 1e9;
  panel.x = {.label = "bandwidth of a GPU's link, one direction (GB/s)",
             .min = rates.min,
             .max = rates.max,
             .log = true,
             .tics = decade_tics(rates, kGiga, panel.area.width, true)};
  panel.y = share_axis("exposed share of the step (%)", 1.0, panel.area.height);
  for (const double share : {0.05, 0.10}) {
    panel.elements.emplace_back(line({{rates.min, share}, {rates.max, share}}, kThreshold));
  }
  const std::vector<double> factors = side_by_side(curves, rates, panel.area.width);
  for (std::size_t index = 0; index < curves.size(); ++index) {
    const SeriesStyle style = style_at(index);
    panel.elements.emplace_back(
        line(curves[index].points, {.color = style.color, .width = 2, .dash = style.dash}));
    if (curves[index].mark) {
      Marks::Mark mark = with_interval(curves[index]);
      mark.x *= factors[index];
      panel.elements.emplace_back(
          Marks{.marks = {mark},
                .style = {.color = style.color, .shape = style.shape, .size = 1.9, .outlined = true}});
    }
  }
  figure.panels.push_back(std::move(panel));
  return {figure};
}

}  // namespace ringside::plots
