#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <span>

#include <fmt/format.h>

#include "plots/charts.hpp"
#include "plots/page.hpp"
#include "plots/point_series.hpp"
#include "plots/text.hpp"
#include "plots/tics.hpp"

namespace ringside::plots {
namespace {

constexpr std::size_t kPanelsPerFile = 6;
constexpr double kLabelRow = 22;  // Pixels between the labels of crossovers.
constexpr Font kCrossoverFont{.size = 13};
constexpr Range kNothing{.min = std::numeric_limits<double>::infinity(), .max = 0};

/// What the three charts of points differ in.
struct SmallMultiples {
  std::string name;
  std::string subtitle;
  std::vector<LegendEntry> legend = {};
  std::vector<const RanksPanel*> panels = {};
  Range sizes = {};  ///< Of the messages in all panels.
  Axis y = {};
  std::function<std::vector<Tic>(double pixels)> y_tics = {};
  double headroom = 0;  ///< Pixels at the top of each panel that data must leave free.
  std::function<void(Panel&, const RanksPanel&)> fill = {};
};

/// A log range with a little room around what it holds.
Range padded(const Range& range, double share, double least_factor) {
  const double factor = std::max(std::pow(range.max / range.min, share), least_factor);
  return {range.min / factor, range.max * factor};
}

/// Powers of two, or the sizes themselves where an axis holds hardly any power of two.
std::vector<Tic> tics_of_sizes(const Range& axis, const std::set<std::int64_t>& sizes, double pixels) {
  std::vector<Tic> tics = size_tics(axis, pixels);
  const auto labelled =
      std::count_if(tics.begin(), tics.end(), [](const Tic& tic) { return !tic.label.empty(); });
  if (labelled >= 2 && sizes.size() > 1) {
    return tics;
  }
  tics.clear();
  double free_from = -std::numeric_limits<double>::infinity();
  for (const std::int64_t size : sizes) {
    const auto value = static_cast<double>(size);
    const double at = std::log(value / axis.min) / std::log(axis.max / axis.min) * pixels;
    const std::string label = format(Bytes{size});
    const double half = text_width(label, {}) / 2 + 6;
    tics.push_back({value, at - half >= free_from ? label : ""});
    free_from = at - half >= free_from ? at + half : free_from;
  }
  return tics;
}

std::set<std::int64_t> sizes_of(const std::vector<const RanksPanel*>& panels) {
  std::set<std::int64_t> sizes;
  for (const RanksPanel* panel : panels) {
    for (const Series& series : panel->series) {
      for (const auto& [bytes, point] : series.points) {
        sizes.insert(bytes);
      }
    }
  }
  return sizes;
}

int num_columns(std::size_t panels) {
  constexpr std::array kColumns = {1, 1, 2, 3, 2, 3, 3};
  return kColumns[std::min(panels, kPanelsPerFile)];
}

/// Extends the top of an axis so that `headroom` of its `pixels` lie above what it ends with now.
void add_headroom(Axis& axis, double headroom, double pixels) {
  const double share = 1 / (1 - headroom / pixels);
  axis.max =
      axis.log ? axis.min * std::pow(axis.max / axis.min, share) : axis.min + (axis.max - axis.min) * share;
}

Figure draw_page(const SmallMultiples& chart, std::span<const RanksPanel* const> panels,
                 const ChartContext& context, const std::string& suffix, const std::string& page_note) {
  const int columns = num_columns(panels.size());
  const bool two_rows = panels.size() > static_cast<std::size_t>(columns);
  Figure figure{.name = chart.name + suffix, .width = 1200, .height = two_rows ? 1080 : 740};
  const Rect area = lay_out_page(figure, page_text(context, chart.subtitle + page_note), chart.legend);
  const PanelGrid grid = lay_out_panels(area, panels.size(), columns);

  const std::set<std::int64_t> sizes = sizes_of(chart.panels);
  const Range x = sizes.size() > 1 ? padded(chart.sizes, 0.03, 1.1) : padded(chart.sizes, 0, 1.6);
  for (std::size_t index = 0; index < panels.size(); ++index) {
    const Rect& cell = grid.areas[index];
    Panel panel{.area = cell,
                .title = fmt::format("{} rank{}", panels[index]->ranks, panels[index]->ranks == 1 ? "" : "s"),
                .x = {.min = x.min, .max = x.max, .log = true},
                .y = chart.y};
    add_headroom(panel.y, chart.headroom, cell.height);
    panel.x.tics = tics_of_sizes(x, sizes, cell.width);
    panel.x.label = grid.labels_x(index) ? "message size" : "";
    panel.x.show_tic_labels = grid.labels_x(index);
    panel.y.tics = chart.y_tics(cell.height);
    panel.y.label = grid.labels_y(index) ? chart.y.label : "";
    panel.y.show_tic_labels = grid.labels_y(index);
    chart.fill(panel, *panels[index]);
    figure.panels.push_back(std::move(panel));
  }
  return figure;
}

std::vector<Figure> draw_pages(const SmallMultiples& chart, const ChartContext& context) {
  std::vector<Figure> figures;
  const std::size_t num_pages = (chart.panels.size() + kPanelsPerFile - 1) / kPanelsPerFile;
  for (std::size_t page = 0; page < num_pages; ++page) {
    const std::size_t first = page * kPanelsPerFile;
    const std::size_t count = std::min(kPanelsPerFile, chart.panels.size() - first);
    figures.push_back(draw_page(chart, std::span(chart.panels).subspan(first, count), context,
                                page == 0 ? "" : fmt::format("_{}", page + 1),
                                num_pages == 1 ? "" : fmt::format(" (page {} of {})", page + 1, num_pages)));
  }
  return figures;
}

/// Series with solid lines first: where two lines coincide, the gaps of the upper one show the lower one.
std::vector<const Series*> in_drawing_order(const RanksPanel& panel,
                                            const std::map<std::string, SeriesStyle>& styles) {
  std::vector<const Series*> order;
  for (const Series& series : panel.series) {
    order.push_back(&series);
  }
  std::stable_partition(order.begin(), order.end(), [&](const Series* series) {
    return styles.at(series->algorithm).dash == Dash::solid;
  });
  return order;
}

Stroke line_of(const SeriesStyle& style) { return {.color = style.color, .width = 2.5, .dash = style.dash}; }
MarkStyle mark_of(const SeriesStyle& style) {
  return {.color = style.color, .shape = style.shape, .size = 1.4};
}

/// What of the points there is to be explained.
struct Seen {
  bool predictions = false;
  bool intervals = false;
  bool measurements = false;
};

Seen look_at(const PointGroup& group) {
  Seen seen;
  for (const RanksPanel& panel : group.panels) {
    for (const Series& series : panel.series) {
      for (const auto& [bytes, point] : series.points) {
        seen.predictions = seen.predictions || has_prediction(point);
        seen.intervals =
            seen.intervals || (has_prediction(point) && point.predicted->low && point.predicted->high);
        seen.measurements = seen.measurements || has_measurement(point);
      }
    }
  }
  return seen;
}

std::vector<LegendEntry> legend_of(const PointGroup& group, const std::map<std::string, SeriesStyle>& styles,
                                   const Seen& seen) {
  std::vector<LegendEntry> legend;
  for (const std::string& algorithm : group.algorithms) {
    LegendEntry entry{.label = algorithm};
    if (seen.predictions) {
      entry.line = line_of(styles.at(algorithm));
    }
    if (seen.measurements) {
      entry.mark = mark_of(styles.at(algorithm));
    }
    legend.push_back(entry);
  }
  if (seen.predictions) {
    LegendEntry entry{.label = seen.intervals ? "predicted, 90 % interval" : "predicted",
                      .line = Stroke{.color = kGrey}};
    if (seen.intervals) {
      entry.band = Color{.rgb = kGrey.rgb, .opacity = 0.2};
    }
    legend.push_back(entry);
  }
  if (seen.measurements) {
    legend.push_back({.label = "measured, 95 % interval",
                      .mark = MarkStyle{.color = kGrey, .shape = Shape::circle, .size = 1.4},
                      .interval = true});
  }
  return legend;
}

/// Where a series stands beside the true size when there is only one size: side by side instead of on each other.
double sideways(const std::vector<std::string>& algorithms, const std::string& algorithm, bool one_size) {
  if (!one_size) {
    return 1;
  }
  const auto index = std::find(algorithms.begin(), algorithms.end(), algorithm) - algorithms.begin();
  const double step = 0.55 / static_cast<double>(algorithms.size());
  return std::exp(step * (static_cast<double>(index) - static_cast<double>(algorithms.size() - 1) / 2));
}

/// A line through one point is a short stroke, or it would not be seen.
void add_line(Panel& panel, std::vector<XY> points, const Stroke& stroke) {
  if (points.size() == 1) {
    const double reach = std::pow(panel.x.max / panel.x.min, 0.025);
    const XY only = points.front();
    points = {{only.x / reach, only.y}, {only.x * reach, only.y}};
  }
  panel.elements.emplace_back(Polyline{.points = std::move(points), .stroke = stroke});
}

/// How a time becomes the value of the y axis.
using Transform = std::function<double(Seconds time, std::int64_t bytes, int ranks)>;

/// Bands, then lines, then marks: a measurement is never hidden by a prediction.
void add_series(Panel& panel, const RanksPanel& content, const PointGroup& group,
                const std::map<std::string, SeriesStyle>& styles, bool one_size, const Transform& transform) {
  const std::vector<const Series*> order = in_drawing_order(content, styles);
  for (const Series* series : order) {
    Band band{.fill = {.rgb = styles.at(series->algorithm).color.rgb, .opacity = 0.15}};
    for (const auto& [bytes, point] : series->points) {
      if (has_prediction(point) && point.predicted->low && point.predicted->high) {
        const double a = transform(*point.predicted->low, bytes, content.ranks);
        const double b = transform(*point.predicted->high, bytes, content.ranks);
        band.points.push_back({static_cast<double>(bytes), std::min(a, b), std::max(a, b)});
      }
    }
    if (one_size && band.points.size() == 1) {
      const double x = band.points[0].x * sideways(group.algorithms, series->algorithm, true);
      const double reach = std::pow(panel.x.max / panel.x.min, 0.025);
      band.points = {{x / reach, band.points[0].low, band.points[0].high},
                     {x * reach, band.points[0].low, band.points[0].high}};
    }
    panel.elements.emplace_back(std::move(band));
  }
  for (const Series* series : order) {
    const double shift = sideways(group.algorithms, series->algorithm, one_size);
    std::vector<XY> line;
    for (const auto& [bytes, point] : series->points) {
      if (has_prediction(point)) {
        line.push_back(
            {static_cast<double>(bytes) * shift, transform(point.predicted->seconds, bytes, content.ranks)});
      }
    }
    add_line(panel, std::move(line), line_of(styles.at(series->algorithm)));
  }
  for (const Series* series : order) {
    const double shift = sideways(group.algorithms, series->algorithm, one_size);
    Marks marks{.style = mark_of(styles.at(series->algorithm))};
    for (const auto& [bytes, point] : series->points) {
      if (has_measurement(point)) {
        const double a = transform(point.measured->low, bytes, content.ranks);
        const double b = transform(point.measured->high, bytes, content.ranks);
        marks.marks.push_back({.x = static_cast<double>(bytes) * shift,
                               .y = transform(point.measured->seconds, bytes, content.ranks),
                               .low = std::min(a, b),
                               .high = std::max(a, b)});
      }
    }
    panel.elements.emplace_back(std::move(marks));
  }
}

std::vector<const RanksPanel*> pointers(const std::vector<RanksPanel>& panels) {
  std::vector<const RanksPanel*> result;
  for (const RanksPanel& panel : panels) {
    result.push_back(&panel);
  }
  return result;
}

Range size_range(const std::vector<const RanksPanel*>& panels) {
  const std::set<std::int64_t> sizes = sizes_of(panels);
  return {static_cast<double>(*sizes.begin()), static_cast<double>(*sizes.rbegin())};
}

/// Calls `visit` with every time that will be drawn.
void for_each_time(const PointGroup& group,
                   const std::function<void(Seconds, std::int64_t bytes, int ranks)>& visit) {
  for (const RanksPanel& panel : group.panels) {
    for (const Series& series : panel.series) {
      for (const auto& [bytes, point] : series.points) {
        std::vector<Seconds> times;
        if (has_prediction(point)) {
          times = {point.predicted->seconds, point.predicted->low.value_or(point.predicted->seconds),
                   point.predicted->high.value_or(point.predicted->seconds)};
        }
        if (has_measurement(point)) {
          times.insert(times.end(), {point.measured->seconds, point.measured->low, point.measured->high});
        }
        for (const Seconds time : times) {
          visit(time, bytes, panel.ranks);
        }
      }
    }
  }
}

// ---- Crossovers ----------------------------------------------------------------------------------------

struct CrossoverLine {
  int ranks;
  double bytes;
  bool measured;
  std::vector<std::string> labels;  ///< The same, ever shorter.
};

/// Crossovers inside the sizes of the chart.
std::vector<CrossoverLine> lines_of(const std::vector<Crossover>& crossovers, const Range& sizes) {
  std::vector<CrossoverLine> lines;
  for (const Crossover& crossover : crossovers) {
    const auto add = [&](const std::optional<Bytes>& bytes, const std::optional<std::string>& winner,
                         bool measured) {
      if (!bytes) {
        return;
      }
      const auto at = static_cast<double>(bytes->value);
      if (at < sizes.min || at > sizes.max) {
        return;
      }
      const std::string size = format(*bytes);
      const std::string loser = winner == crossover.baseline ? crossover.candidate : crossover.baseline;
      const std::string kind = measured ? "measured" : "predicted";
      CrossoverLine line{.ranks = crossover.ranks, .bytes = at, .measured = measured, .labels = {}};
      if (winner) {
        line.labels = {fmt::format("{}: {} beats {} above {}", kind, *winner, loser, size),
                       fmt::format("{} beats {} above {}", *winner, loser, size),
                       fmt::format("{} wins above {}", *winner, size)};
      } else {
        line.labels = {fmt::format("{}: {} = {} at {}", kind, crossover.baseline, crossover.candidate, size)};
      }
      line.labels.push_back("crossover " + size);
      lines.push_back(std::move(line));
    };
    add(crossover.predicted_bytes, crossover.predicted_winner, false);
    add(crossover.measured_bytes, crossover.measured_winner, true);
  }
  return lines;
}

constexpr Color kCrossoverColor{.rgb = 0x222222};

Stroke crossover_stroke(bool measured) {
  return {.color = kCrossoverColor, .width = 1.5, .dash = measured ? Dash::dotted : Dash::dashed};
}

std::size_t most_in_a_panel(const std::vector<CrossoverLine>& lines) {
  std::map<int, std::size_t> count;
  std::size_t most = 0;
  for (const CrossoverLine& line : lines) {
    most = std::max(most, ++count[line.ranks]);
  }
  return most;
}

/// Vertical lines, each up to its label; labels stand one per row above all data.
void add_crossovers(Panel& panel, int ranks, const std::vector<CrossoverLine>& lines) {
  const double decades = std::log(panel.x.max / panel.x.min);
  double row = 0;
  for (const CrossoverLine& line : lines) {
    if (line.ranks != ranks) {
      continue;
    }
    const double room = panel.area.width - 12;
    const auto fitting =
        std::find_if(line.labels.begin(), line.labels.end() - 1,
                     [&](const std::string& label) { return text_width(label, kCrossoverFont) <= room; });
    const std::string label = shortened(*fitting, kCrossoverFont, room);
    const double half = text_width(label, kCrossoverFont) / 2 + 6;
    const double pixel = std::log(line.bytes / panel.x.min) / decades * panel.area.width;
    const double center = std::clamp(pixel, half, std::max(half, panel.area.width - half));
    const auto height_at = [&](double from_top) {
      const double share = 1 - from_top / panel.area.height;
      return panel.y.min * std::pow(panel.y.max / panel.y.min, share);
    };
    const double middle = kLabelRow * (row + 0.5);
    panel.elements.emplace_back(
        Polyline{.points = {{line.bytes, panel.y.min}, {line.bytes, height_at(middle + 9)}},
                 .stroke = crossover_stroke(line.measured)});
    panel.elements.emplace_back(
        Text{.at = {panel.x.min * std::exp(center / panel.area.width * decades), height_at(middle)},
             .text = label,
             .align = Align::center,
             .font = kCrossoverFont,
             .color = kCrossoverColor,
             .opaque = true});
    ++row;
  }
}

/// Bytes on the bus per byte of the message, as nccl-tests defines it (its doc/PERFORMANCE.md).
double bus_factor(Collective collective, int ranks) {
  const double n = ranks;
  switch (collective) {
    case Collective::all_reduce:
      return 2 * (n - 1) / n;
    case Collective::reduce_scatter:
    case Collective::all_gather:
    case Collective::gather:
      return (n - 1) / n;
    case Collective::broadcast:
    case Collective::reduce:
      return 1;
  }
  return 1;
}

}  // namespace

std::vector<Figure> time_vs_size(const std::vector<Point>& points, const ChartContext& context,
                                 const std::vector<Crossover>& crossovers) {
  std::vector<Figure> figures;
  for (const PointGroup& group : group_points(points)) {
    const auto styles = series_styles(group.algorithms);
    const Seen seen = look_at(group);
    Range times = kNothing;
    for_each_time(group, [&](Seconds time, std::int64_t, int) {
      if (time.value > 0) {
        times.include(time.value);
      }
    });
    times = padded(times, 0.04, 1.25);

    SmallMultiples chart{.name = "time_vs_size" + group.suffix,
                         .subtitle = group.description + ": time against message size",
                         .legend = legend_of(group, styles, seen),
                         .panels = pointers(group.panels)};
    chart.sizes = size_range(chart.panels);
    const bool one_size = chart.sizes.min == chart.sizes.max;
    const std::vector<CrossoverLine> lines = lines_of(crossovers, chart.sizes);
    for (const bool measured : {false, true}) {
      if (std::any_of(lines.begin(), lines.end(),
                      [&](const CrossoverLine& each) { return each.measured == measured; })) {
        chart.legend.push_back({.label = measured ? "measured crossover" : "predicted crossover",
                                .line = crossover_stroke(measured)});
      }
    }
    chart.y = {.label = "time", .min = times.min, .max = times.max, .log = true};
    chart.headroom = kLabelRow * static_cast<double>(most_in_a_panel(lines));
    chart.y_tics = [&](double pixels) { return time_tics(times, pixels - chart.headroom); };
    chart.fill = [&](Panel& panel, const RanksPanel& content) {
      // An interval that reaches down to zero ends at the edge of the panel.
      add_series(panel, content, group, styles, one_size,
                 [&](Seconds time, std::int64_t, int) { return std::max(time.value, times.min); });
      add_crossovers(panel, content.ranks, lines);
    };
    const std::vector<Figure> pages = draw_pages(chart, context);
    figures.insert(figures.end(), pages.begin(), pages.end());
  }
  return figures;
}

std::vector<Figure> ratio(const std::vector<Point>& points, const ChartContext& context) {
  std::vector<Point> both;
  std::copy_if(points.begin(), points.end(), std::back_inserter(both),
               [](const Point& point) { return has_prediction(point) && has_measurement(point); });
  std::vector<Figure> figures;
  for (const PointGroup& group : group_points(both)) {
    const auto styles = series_styles(group.algorithms);
    Range ratios{.min = 0.8, .max = 1.25};
    for (const Point& point : both) {
      ratios.include(point.predicted->seconds.value / point.measured->seconds.value);
    }
    // Symmetric around 1, so that too slow and too fast are judged alike.
    const double reach = std::max(ratios.max, 1 / ratios.min) * 1.08;
    ratios = {1 / reach, reach};

    SmallMultiples chart{
        .name = "ratio" + group.suffix,
        .subtitle = group.description + ": predicted over measured time",
        .panels = pointers(group.panels),
        .y = {.label = "predicted / measured time", .min = ratios.min, .max = ratios.max, .log = true}};
    for (const std::string& algorithm : group.algorithms) {
      const SeriesStyle& style = styles.at(algorithm);
      chart.legend.push_back({.label = algorithm, .line = line_of(style), .mark = mark_of(style)});
    }
    constexpr Color kTenPercent{.rgb = kGreen.rgb, .opacity = 0.18};
    chart.legend.push_back({.label = "within 10 %", .band = kTenPercent});
    chart.sizes = size_range(chart.panels);
    const bool one_size = chart.sizes.min == chart.sizes.max;
    chart.y_tics = [&](double pixels) { return ratio_tics(ratios, pixels); };
    chart.fill = [&](Panel& panel, const RanksPanel& content) {
      panel.elements.emplace_back(
          Band{.points = {{panel.x.min, 1 / 1.1, 1.1}, {panel.x.max, 1 / 1.1, 1.1}}, .fill = kTenPercent});
      panel.elements.emplace_back(Polyline{.points = {{panel.x.min, 1}, {panel.x.max, 1}},
                                           .stroke = {.color = kBlack, .width = 1.2}});
      for (const Series* series : in_drawing_order(content, styles)) {
        const double shift = sideways(group.algorithms, series->algorithm, one_size);
        std::vector<XY> line;
        Marks marks{.style = mark_of(styles.at(series->algorithm))};
        for (const auto& [bytes, point] : series->points) {
          const double x = static_cast<double>(bytes) * shift;
          const double predicted = point.predicted->seconds.value;
          const auto over = [&](Seconds time) {
            return std::clamp(predicted / std::max(time.value, 1e-300), ratios.min, ratios.max);
          };
          line.push_back({x, over(point.measured->seconds)});
          marks.marks.push_back(
              {x, over(point.measured->seconds), over(point.measured->high), over(point.measured->low)});
        }
        Stroke stroke = line_of(styles.at(series->algorithm));
        stroke.width = 1.5;
        add_line(panel, std::move(line), stroke);
        panel.elements.emplace_back(std::move(marks));
      }
    };
    const std::vector<Figure> pages = draw_pages(chart, context);
    figures.insert(figures.end(), pages.begin(), pages.end());
  }
  return figures;
}

std::vector<Figure> bus_bandwidth(const std::vector<Point>& points, const ChartContext& context,
                                  const std::optional<BandwidthLimit>& limit) {
  std::vector<Point> moving;  // One rank moves nothing.
  std::copy_if(points.begin(), points.end(), std::back_inserter(moving),
               [](const Point& point) { return point.key.ranks > 1; });
  std::vector<Figure> figures;
  for (const PointGroup& group : group_points(moving)) {
    const auto styles = series_styles(group.algorithms);
    const Transform bandwidth = [&](Seconds time, std::int64_t bytes, int ranks) {
      return static_cast<double>(bytes) / time.value * bus_factor(group.collective, ranks);
    };
    double fastest = 0;
    for (const RanksPanel& panel : group.panels) {
      for (const Series& series : panel.series) {
        for (const auto& [bytes, point] : series.points) {
          for (const bool measured : {false, true}) {
            if (measured ? has_measurement(point) : has_prediction(point)) {
              const Seconds time = measured ? point.measured->seconds : point.predicted->seconds;
              fastest = std::max(fastest, bandwidth(time, bytes, panel.ranks));
            }
          }
        }
      }
    }
    // A limit far above everything would press the curves to the floor: then it is said, not drawn.
    const bool limit_fits = limit && limit->rate.value <= 4 * fastest;
    const double top = 1.08 * std::max(fastest, limit_fits ? limit->rate.value : 0.0);
    const NamedUnit unit = bandwidth_unit({top});

    SmallMultiples chart{
        .name = "bus_bandwidth" + group.suffix,
        .subtitle = group.description + ": bus bandwidth (busbw as in nccl-tests) against message size",
        .legend = legend_of(group, styles, look_at(group)),
        .panels = pointers(group.panels),
        .y = {.label = fmt::format("bus bandwidth ({})", unit.name), .min = 0, .max = top}};
    const Stroke limit_stroke{.color = kBlack, .width = 1.5, .dash = Dash::dashed};
    if (limit) {
      const std::string text = fmt::format("limit: {} {}", limit->label, format(limit->rate));
      if (limit_fits) {
        chart.legend.push_back({.label = text, .line = limit_stroke});
      } else {
        chart.subtitle += fmt::format("; {} is above the chart", text);
      }
    }
    chart.sizes = size_range(chart.panels);
    const bool one_size = chart.sizes.min == chart.sizes.max;
    chart.y_tics = [&](double pixels) { return linear_tics({0, top}, unit.value, pixels); };
    chart.fill = [&](Panel& panel, const RanksPanel& content) {
      if (limit_fits) {
        panel.elements.emplace_back(
            Polyline{.points = {{panel.x.min, limit->rate.value}, {panel.x.max, limit->rate.value}},
                     .stroke = limit_stroke});
      }
      add_series(panel, content, group, styles, one_size, [&](Seconds time, std::int64_t bytes, int ranks) {
        return time.value > 0 ? std::min(bandwidth(time, bytes, ranks), top) : top;
      });
    };
    const std::vector<Figure> pages = draw_pages(chart, context);
    figures.insert(figures.end(), pages.begin(), pages.end());
  }
  return figures;
}

}  // namespace ringside::plots
