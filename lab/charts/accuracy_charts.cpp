#include "lab/charts/accuracy_charts.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "plots/drawing/palette.hpp"
#include "plots/drawing/tics.hpp"

namespace ringside::plots {
namespace {

constexpr std::array<MachineClass, 3> kClasses = {MachineClass::node_nvlink, MachineClass::node_pcie,
                                                  MachineClass::multi_node};
constexpr Color kQuarter{.rgb = kGreen.rgb, .opacity = 0.18};
constexpr Color kIntervalFill{.rgb = kBlue.rgb, .opacity = 0.16};

std::string_view title_of(MachineClass machine_class) {
  switch (machine_class) {
    case MachineClass::node_nvlink:
      return "one node, NVLink or xGMI";
    case MachineClass::node_pcie:
      return "one node, PCIe";
    case MachineClass::multi_node:
      break;
  }
  return "several nodes";
}

bool is_ours_held_out(const EvaluatedPoint& point) {
  return point.model == EvaluatedModel::ringside && point.fold == Fold::held_out;
}

/// Bus bandwidth as in nccl-tests, bytes per second.
double bus_rate(const EvaluatedPoint& point, double seconds) {
  return static_cast<double>(point.bytes.value) / seconds * 2 * (point.ranks - 1) / point.ranks;
}

bool reduces_all(const EvaluatedSystem& system) { return system.collective == Collective::all_reduce; }

Range seconds_range(const AccuracyReport& report) {
  Range range{.min = 1e-4, .max = 1e-3};
  for (const EvaluatedSystem& system : report.systems) {
    for (const EvaluatedPoint& point : system.points) {
      if (!system.excluded && is_ours_held_out(point)) {
        range.include(point.measured);
        range.include(point.predicted);
      }
    }
  }
  return {range.min / 1.3, range.max * 1.3};
}

/// The points of all_reduce, or of all other collectives.
Marks scatter_of(const AccuracyReport& report, MachineClass machine_class, bool all_reduce) {
  const Color color = all_reduce ? kBlue : kOrange;
  Marks marks{.style = {.color = {.rgb = color.rgb, .opacity = 0.45}, .shape = Shape::circle, .size = 0.7}};
  for (const EvaluatedSystem& system : report.systems) {
    if (system.excluded || system.machine_class != machine_class || reduces_all(system) != all_reduce) {
      continue;
    }
    for (const EvaluatedPoint& point : system.points) {
      if (is_ours_held_out(point)) {
        marks.marks.push_back({point.measured, point.predicted, point.predicted, point.predicted});
      }
    }
  }
  return marks;
}

/// Measured and predicted bus bandwidth of one system.
Panel curve_panel(const EvaluatedSystem& system, const Rect& area) {
  std::vector<EvaluatedPoint> points;
  std::copy_if(system.points.begin(), system.points.end(), std::back_inserter(points), is_ours_held_out);
  std::sort(points.begin(), points.end(),
            [](const EvaluatedPoint& a, const EvaluatedPoint& b) { return a.bytes < b.bytes; });
  Range rates{.min = bus_rate(points.back(), points.back().measured),
              .max = bus_rate(points.back(), points.back().measured)};
  Band band{.points = {}, .fill = kIntervalFill};
  Polyline line{.points = {}, .stroke = {.color = kBlue, .width = 2}};
  Marks marks{.marks = {}, .style = {.color = kBlack, .shape = Shape::circle, .size = 0.9}};
  for (const EvaluatedPoint& point : points) {
    const auto x = static_cast<double>(point.bytes.value);
    const double measured = bus_rate(point, point.measured);
    const double predicted = bus_rate(point, point.predicted);
    const Interval<double> interval = point.interval.value_or(Interval<double>::exactly(point.predicted));
    band.points.push_back({x, bus_rate(point, interval.high), bus_rate(point, interval.low)});
    line.points.push_back({x, predicted});
    marks.marks.push_back({x, measured, measured, measured});
    for (const double rate : {measured, bus_rate(point, interval.low), bus_rate(point, interval.high)}) {
      rates.include(rate);
    }
  }
  Panel panel{.area = area, .title = system.name.substr(0, system.name.find("__"))};
  panel.x = {.label = "message size",
             .min = static_cast<double>(points.front().bytes.value) / 1.3,
             .max = static_cast<double>(points.back().bytes.value) * 1.3,
             .log = true};
  panel.x.tics = size_tics({panel.x.min, panel.x.max}, area.width);
  panel.y = {.label = "bus bandwidth, GB/s", .min = rates.min / 1.4, .max = rates.max * 1.4, .log = true};
  for (double at = 1; at < 1e13; at *= 10) {
    if (at >= panel.y.min && at <= panel.y.max) {
      panel.y.tics.push_back({at, fmt::format("{:g}", at / 1e9)});
    }
  }
  panel.elements.emplace_back(std::move(band));
  panel.elements.emplace_back(std::move(line));
  panel.elements.emplace_back(std::move(marks));
  return panel;
}

/// One or two systems per class: whole curves, and numbers of ranks that differ.
std::vector<const EvaluatedSystem*> samples_of(const AccuracyReport& report) {
  std::vector<const EvaluatedSystem*> samples;
  for (const MachineClass machine_class : kClasses) {
    std::vector<const EvaluatedSystem*> candidates;
    for (const EvaluatedSystem& system : report.systems) {
      if (!system.excluded && reduces_all(system) && system.machine_class == machine_class &&
          !system.points.empty()) {
        candidates.push_back(&system);
      }
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const EvaluatedSystem* a, const EvaluatedSystem* b) {
                       return a->points.size() > b->points.size();
                     });
    constexpr std::size_t kPerClass = 2;
    std::size_t taken = 0;
    for (const EvaluatedSystem* candidate : candidates) {
      const bool alike = std::any_of(samples.begin(), samples.end(), [&](const EvaluatedSystem* sample) {
        return sample->machine_class == machine_class && sample->group == candidate->group;
      });
      if (!alike && taken < kPerClass) {
        samples.push_back(candidate);
        ++taken;
      }
    }
  }
  return samples;
}

struct Bar {
  EvaluatedModel model;
  std::string_view label;
  Color color;
};
constexpr std::array<Bar, 3> kBars = {
    {{EvaluatedModel::ringside, "ringside, held out", kBlue},
     {EvaluatedModel::nccl_tuner, "NCCL's cost table", kOrange},
     {EvaluatedModel::alpha_beta, "alpha-beta, data-sheet bandwidth", kGrey}}};
constexpr std::array<std::string_view, 4> kBands = {"all", "small", "middle", "large"};

void add_bars(Panel& panel, const AccuracyReport& report, MachineClass machine_class) {
  constexpr double kWidth = 0.26;
  Boxes boxes;
  for (std::size_t band = 0; band < kBands.size(); ++band) {
    for (std::size_t i = 0; i < kBars.size(); ++i) {
      const Accuracy* record = find(report.summaries, {.statistic = "median",
                                                       .machine_class = name(machine_class),
                                                       .band = kBands.at(band),
                                                       .model = kBars.at(i).model});
      if (record == nullptr) {
        continue;
      }
      const double left = static_cast<double>(band) + (static_cast<double>(i) - 1.5) * kWidth;
      const double high = std::min(100 * record->mape, panel.y.max);
      boxes.boxes.push_back({left, left + kWidth, 0, high, kBars.at(i).color});
      panel.elements.emplace_back(Text{.at = {left + kWidth / 2, high + 2.5},
                                       .text = fmt::format("{:.0f}", 100 * record->mape),
                                       .align = Align::center,
                                       .font = {.size = 13}});
    }
  }
  panel.elements.emplace_back(std::move(boxes));
}

}  // namespace

std::vector<Figure> accuracy_scatter(const AccuracyReport& report, const ChartContext& context) {
  const std::vector<LegendEntry> legend = {
      {.label = "one measured all_reduce",
       .mark = MarkStyle{.color = kBlue, .shape = Shape::circle, .size = 0.9}},
      {.label = "one of another collective",
       .mark = MarkStyle{.color = kOrange, .shape = Shape::circle, .size = 0.9}},
      {.label = "within 25 %", .band = kQuarter}};
  Figure figure{.name = "accuracy_scatter", .width = 1200, .height = 560};
  const Rect area = lay_out_page(
      figure, page_text(context, "predicted against measured time; each system held out of the fit"), legend);
  const PanelGrid grid = lay_out_panels(area, kClasses.size(), 3, {.left = 118});
  const Range range = seconds_range(report);
  for (std::size_t i = 0; i < kClasses.size(); ++i) {
    Panel panel{.area = grid.areas[i], .title = std::string(title_of(kClasses.at(i)))};
    panel.x = {.label = "measured", .min = range.min, .max = range.max, .log = true};
    panel.y = {.label = i == 0 ? "predicted" : "", .min = range.min, .max = range.max, .log = true};
    panel.x.tics = time_tics(range, panel.area.width);
    panel.y.tics = time_tics(range, panel.area.height);
    panel.y.show_tic_labels = i == 0;
    panel.elements.emplace_back(Band{.points = {{range.min, 0.75 * range.min, 1.25 * range.min},
                                                {range.max, 0.75 * range.max, 1.25 * range.max}},
                                     .fill = kQuarter});
    panel.elements.emplace_back(Polyline{.points = {{range.min, range.min}, {range.max, range.max}},
                                         .stroke = {.color = kBlack, .width = 1.2}});
    for (const bool all_reduce : {false, true}) {
      panel.elements.emplace_back(scatter_of(report, kClasses.at(i), all_reduce));
    }
    figure.panels.push_back(std::move(panel));
  }
  return {figure};
}

std::vector<Figure> accuracy_by_size(const AccuracyReport& report, const ChartContext& context) {
  std::vector<LegendEntry> legend;
  for (const Bar& bar : kBars) {
    legend.push_back({.label = std::string(bar.label), .band = bar.color});
  }
  Figure figure{.name = "accuracy_by_size", .width = 1200, .height = 560};
  const Rect area =
      lay_out_page(figure, page_text(context, "median over systems of the mean error in percent"), legend);
  const PanelGrid grid = lay_out_panels(area, kClasses.size(), 3);
  constexpr double kMost = 80;
  for (std::size_t i = 0; i < kClasses.size(); ++i) {
    Panel panel{.area = grid.areas[i], .title = std::string(title_of(kClasses.at(i)))};
    panel.x = {.label = "message size", .min = -0.6, .max = 3.6};
    for (std::size_t band = 0; band < kBands.size(); ++band) {
      panel.x.tics.push_back({static_cast<double>(band), std::string(kBands.at(band))});
    }
    panel.y = {.label = i == 0 ? "mean error, %" : "", .min = 0, .max = kMost};
    panel.y.tics = linear_tics({0, kMost}, 1, panel.area.height);
    panel.y.show_tic_labels = i == 0;
    add_bars(panel, report, kClasses.at(i));
    figure.panels.push_back(std::move(panel));
  }
  return {figure};
}

std::vector<Figure> accuracy_curves(const AccuracyReport& report, const ChartContext& context) {
  const std::vector<const EvaluatedSystem*> samples = samples_of(report);
  if (samples.empty()) {
    return {};
  }
  const std::vector<LegendEntry> legend = {
      {.label = "measured", .mark = MarkStyle{.color = kBlack, .shape = Shape::circle, .size = 0.9}},
      {.label = "predicted, held out", .line = Stroke{.color = kBlue, .width = 2}},
      {.label = "90 % interval", .band = kIntervalFill}};
  Figure figure{.name = "accuracy_curves", .width = 1200, .height = 900};
  const Rect area =
      lay_out_page(figure, page_text(context, "bus bandwidth of systems that the fit did not see"), legend);
  const int columns = static_cast<int>(std::min<std::size_t>(3, samples.size()));
  const PanelGrid grid = lay_out_panels(area, samples.size(), columns, {.gap_x = 80, .gap_y = 92});
  for (std::size_t i = 0; i < samples.size(); ++i) {
    Panel panel = curve_panel(*samples[i], grid.areas[i]);
    if (!grid.labels_y(i)) {
      panel.y.label.clear();
    }
    figure.panels.push_back(std::move(panel));
  }
  return {figure};
}

}  // namespace ringside::plots
