#include "plots/charts/plan_charts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "common/numbers.hpp"
#include "plots/drawing/palette.hpp"
#include "plots/drawing/text.hpp"
#include "plots/drawing/tics.hpp"

namespace ringside::plots {
namespace {

constexpr std::array kShapes = {Shape::circle,        Shape::square,  Shape::triangle,
                                Shape::triangle_down, Shape::diamond, Shape::pentagon};
constexpr std::array kDashes = {Dash::solid, Dash::dashed, Dash::dash_dot, Dash::dotted};

// --- Curves ------------------------------------------------------------------------------------------------

SeriesStyle style_at(std::size_t index) {
  return {.color = cycle_color(index),
          .dash = kDashes[index % kDashes.size()],
          .shape = kShapes[index % kShapes.size()]};
}

std::vector<LegendEntry> legend_of(const std::vector<Curve>& curves, bool marks) {
  std::vector<LegendEntry> legend;
  for (std::size_t index = 0; index < curves.size(); ++index) {
    const SeriesStyle style = style_at(index);
    legend.push_back({.label = shortened(curves[index].label, {}, kMaxPlanLabel),
                      .line = style.line(),
                      .mark = marks ? std::optional(style.mark()) : std::nullopt});
  }
  return legend;
}

/// Shares of 1 as percent.
Axis share_axis(const std::string& label, double max, double pixels) {
  return {.label = label, .min = 0, .max = max, .tics = linear_tics({0, max}, 0.01, pixels)};
}

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
    if (std::ranges::any_of(bars, [&](const StepBar& bar) { return bar.*part.length > 0; })) {
      legend.push_back({.label = part.label, .band = part.color});
    }
  }
  if (std::ranges::any_of(bars, [](const StepBar& bar) { return bar.whole.has_value(); })) {
    legend.push_back({.label = "90 % interval", .line = kStepInterval});
  }
  return legend;
}

/// Where the axis ends: at the slowest interval's end, but so that bars stay visible.
double end_of_axis(const std::vector<StepBar>& bars) {
  constexpr double kMostOfLongest = 4;
  double longest = 0;
  double slowest = 0;
  for (const StepBar& bar : bars) {
    longest = std::max(longest, length_of(bar));
    slowest = std::max(slowest, bar.whole ? bar.whole->high : length_of(bar));
  }
  return 1.005 * std::clamp(slowest, longest, kMostOfLongest * longest);
}

/// The whole interval, also where the axis cuts it; a column has no room for that.
std::string text_of(const StepBar& bar, ChartSize size) {
  std::string text = percent(bar.exposed / length_of(bar)) + " exposed";
  if (bar.whole && size != ChartSize::column) {
    text += fmt::format(", {} to {}", format(Seconds{bar.whole->low}), format(Seconds{bar.whole->high}));
  }
  return text;
}

void add_bar(const StepBar& bar, double top, ChartSize size, Panel& panel, Boxes& boxes) {
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
    panel.elements.emplace_back(Polyline{{{low, top + 0.5}, {high, top + 0.5}}, kStepInterval});
    panel.elements.emplace_back(Polyline{{{low, top + 0.35}, {low, top + 0.65}}, kStepInterval});
    if (high < panel.x.max) {
      panel.elements.emplace_back(Polyline{{{high, top + 0.35}, {high, top + 0.65}}, kStepInterval});
    }
  }
  panel.elements.emplace_back(Text{.at = {1.01 * panel.x.max, top + 0.5},
                                   .text = text_of(bar, size),
                                   .font = kSmallFont,
                                   .color = kBlack});
}

}  // namespace

std::vector<Figure> step_bars(const std::vector<StepBar>& bars, const ChartContext& context) {
  if (bars.empty()) {
    return {};
  }
  double widest = 0;
  double widest_text = 0;
  for (const StepBar& bar : bars) {
    widest = std::max(widest, std::min(kMaxPlanLabel, text_width(bar.label, {})));
    widest_text = std::max(widest_text, text_width(text_of(bar, context.size), kSmallFont));
  }
  const auto count = static_cast<double>(bars.size());
  Figure figure{.name = "plan_steps",
                .width = width_for(context.size, 1200),
                .height = static_cast<int>(std::max(420.0, 34 * count + 230))};
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
    panel.y.tics.push_back({top + 0.5, shortened(bars[index].label, {}, kMaxPlanLabel)});
    add_bar(bars[index], top, context.size, panel, boxes);
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
  Figure figure{.name = "plan_scaling", .width = width_for(context.size, 1200), .height = 750};
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
    panel.elements.emplace_back(Polyline{curves[index].points, style.line()});
    Marks marks{.style = style.mark()};
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

/// Marks that would stand on each other stand side by side, so that no interval hides another: factors by
/// which they move on the logarithmic axis, by index of the curve.
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
  const bool intervals =
      std::ranges::any_of(curves, [](const Curve& curve) { return curve.mark_interval.has_value(); });
  legend.push_back({.label = intervals ? "as offered, 90 % interval" : "as offered",
                    .mark = MarkStyle{.color = kBlack, .size = 1.6},
                    .interval = intervals});
  legend.push_back({.label = "5 % and 10 %", .line = kThreshold});
  Figure figure{.name = "plan_bandwidth", .width = width_for(context.size, 1200), .height = 780};
  const Rect area = lay_out_page(
      figure, page_text(context, "exposed communication, if all links of a machine were faster or slower"),
      legend);
  Panel panel{.area = lay_out_panels(area, 1, 1).areas[0]};
  panel.x = {.label = "bandwidth of a GPU's link, one direction (GB/s)",
             .min = rates.min,
             .max = rates.max,
             .log = true,
             .tics = decade_tics(rates, kGiga, panel.area.width, true)};
  panel.y = share_axis("exposed share of the step (%)", 1.0, panel.area.height);
  for (const double share : {0.05, 0.10}) {
    panel.elements.emplace_back(Polyline{{{rates.min, share}, {rates.max, share}}, kThreshold});
  }
  const std::vector<double> factors = side_by_side(curves, rates, panel.area.width);
  for (std::size_t index = 0; index < curves.size(); ++index) {
    const SeriesStyle style = style_at(index);
    panel.elements.emplace_back(Polyline{curves[index].points, style.line()});
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
