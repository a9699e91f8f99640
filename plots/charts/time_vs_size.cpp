#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "plots/charts/small_multiples.hpp"
#include "plots/drawing/text.hpp"

namespace ringside::plots {
namespace {

constexpr double kLabelRow = 22;  // Pixels between the labels of crossovers.
constexpr Color kLineColor{.rgb = 0x222222};

struct CrossoverLine {
  int ranks = 1;
  double bytes = 0;
  bool measured = false;
  std::vector<std::string> labels;  ///< The same, ever shorter.
};

Stroke stroke_of(bool measured) {
  return {.color = kLineColor, .width = 1.5, .dash = measured ? Dash::dotted : Dash::dashed};
}

CrossoverLine line_of(const Crossover& crossover, Bytes bytes, const std::optional<std::string>& winner,
                      bool measured) {
  const std::string size = format(bytes);
  const std::string kind = measured ? "measured" : "predicted";
  CrossoverLine line{.ranks = crossover.ranks,
                     .bytes = static_cast<double>(bytes.value),
                     .measured = measured,
                     .labels = {}};
  if (winner) {
    const std::string& loser = *winner == crossover.baseline ? crossover.candidate : crossover.baseline;
    line.labels = {fmt::format("{}: {} beats {} above {}", kind, *winner, loser, size),
                   fmt::format("{}: {} wins above {}", kind, *winner, size)};
  } else {
    line.labels = {fmt::format("{}: {} and {} cross at {}, no clear winner above", kind, crossover.baseline,
                               crossover.candidate, size),
                   fmt::format("{}: cross at {}, no clear winner", kind, size)};
  }
  line.labels.push_back(fmt::format("{} crossover: {}", kind, size));
  return line;
}

/// Crossovers inside the sizes of the chart.
std::vector<CrossoverLine> lines_of(const std::vector<Crossover>& crossovers,
                                    const std::set<std::int64_t>& sizes) {
  const auto inside = [&](const std::optional<Bytes>& bytes) {
    return bytes && bytes->value >= *sizes.begin() && bytes->value <= *sizes.rbegin();
  };
  std::vector<CrossoverLine> lines;
  for (const Crossover& crossover : crossovers) {
    if (inside(crossover.predicted_bytes)) {
      lines.push_back(line_of(crossover, *crossover.predicted_bytes, crossover.predicted_winner, false));
    }
    if (inside(crossover.measured_bytes)) {
      lines.push_back(line_of(crossover, *crossover.measured_bytes, crossover.measured_winner, true));
    }
  }
  return lines;
}

std::size_t most_in_a_panel(const PointGroup& group, const std::vector<CrossoverLine>& lines) {
  std::ptrdiff_t most = 0;
  for (const RanksPanel& panel : group.panels) {
    most = std::max(most, std::ranges::count_if(
                              lines, [&](const CrossoverLine& line) { return line.ranks == panel.ranks; }));
  }
  return static_cast<std::size_t>(most);
}

/// Vertical lines that end below their labels; labels stand one per row above all data.
void add_crossovers(Panel& panel, int ranks, const std::vector<CrossoverLine>& lines, double headroom) {
  const double width = panel.area.width;
  const double x_scale = width / std::log(panel.x.max / panel.x.min);
  const auto height_at = [&](double pixels_from_top) {
    return panel.y.min * std::pow(panel.y.max / panel.y.min, 1 - pixels_from_top / panel.area.height);
  };
  double middle = kLabelRow / 2;
  for (const CrossoverLine& line : lines) {
    if (line.ranks != ranks) {
      continue;
    }
    const double room = width - 12;
    const auto fitting =
        std::find_if(line.labels.begin(), line.labels.end() - 1,
                     [&](const std::string& each) { return text_width(each, kSmallFont) <= room; });
    const std::string label = shortened(*fitting, kSmallFont, room);
    const double half = text_width(label, kSmallFont) / 2 + 6;
    const double center = std::clamp(std::log(line.bytes / panel.x.min) * x_scale, half, width - half);
    panel.elements.emplace_back(
        Polyline{.points = {{line.bytes, panel.y.min}, {line.bytes, height_at(headroom)}},
                 .stroke = stroke_of(line.measured)});
    panel.elements.emplace_back(
        boxed_label({panel.x.min * std::exp(center / x_scale), height_at(middle)}, label, kLineColor));
    middle += kLabelRow;
  }
}

std::vector<LegendEntry> legend_of(const std::vector<CrossoverLine>& lines) {
  std::vector<LegendEntry> legend;
  for (const bool measured : {false, true}) {
    const bool any =
        std::ranges::any_of(lines, [&](const CrossoverLine& line) { return line.measured == measured; });
    if (any) {
      legend.push_back(
          {.label = measured ? "measured crossover" : "predicted crossover", .line = stroke_of(measured)});
    }
  }
  return legend;
}

/// Thin and dotted: it has seen the measurements, and is no prediction.
Stroke fitted_stroke(const Stroke& of_algorithm) {
  return {.color = of_algorithm.color, .width = 1.2, .dash = Dash::dotted};
}

bool belongs(const FittedCurve& curve, const PointGroup& group) {
  const Point& any = group.panels.front().series.front().points.begin()->second;
  return curve.key.collective == any.key.collective && curve.key.dtype == any.key.dtype &&
         curve.key.op == any.key.op;
}

void add_fitted(Panel& panel, const RanksPanel& content, const PointGroup& group,
                const std::vector<FittedCurve>& fitted, const SeriesPen& pen, const Range& times) {
  for (const FittedCurve& curve : fitted) {
    if (curve.key.ranks != content.ranks || !belongs(curve, group)) {
      continue;
    }
    Polyline line{.points = {}, .stroke = fitted_stroke(pen.line(curve.key.algorithm))};
    for (const std::int64_t bytes : group.sizes) {
      const double time = curve.at({bytes}).value;
      line.points.push_back({static_cast<double>(bytes), std::clamp(time, times.min, times.max)});
    }
    panel.elements.emplace_back(std::move(line));
  }
}

/// The range of all times in a group; an interval that reaches down to zero ends at the edge of the panel.
Range time_range(const PointGroup& group) {
  Range range{.min = std::numeric_limits<double>::infinity(), .max = 0};
  for_each_point(group, [&](const Point& point) {
    for (const Seconds time : times_of(point)) {
      if (time.value > 0) {
        range.include(time.value);
      }
    }
  });
  return padded(range, 0.04, 1.25);
}

}  // namespace

std::vector<Figure> time_vs_size(const std::vector<Point>& points, const ChartContext& context,
                                 const std::vector<Crossover>& crossovers,
                                 const std::vector<FittedCurve>& fitted) {
  return draw_small_multiples(points, context, [&](const PointGroup& group, const SeriesPen& pen) {
    const Range times = time_range(group);
    const std::vector<CrossoverLine> lines = lines_of(crossovers, group.sizes);
    std::vector<LegendEntry> legend = pen.legend();
    const std::vector<LegendEntry> of_lines = legend_of(lines);
    legend.insert(legend.end(), of_lines.begin(), of_lines.end());
    if (std::ranges::any_of(fitted, [&](const FittedCurve& curve) { return belongs(curve, group); })) {
      legend.push_back({.label = "fitted to the measurements", .line = fitted_stroke({})});
    }
    const double headroom = kLabelRow * static_cast<double>(most_in_a_panel(group, lines));
    return SmallMultiples{
        .name = "time_vs_size",
        .subtitle = group.description + ": time against message size",
        .legend = legend,
        .y = {.label = "time", .min = times.min, .max = times.max, .log = true},
        .y_tics = [times](double pixels) { return time_tics(times, pixels); },
        .headroom = headroom,
        .fill =
            [&pen, &group, &fitted, times, lines, headroom](Panel& panel, const RanksPanel& content) {
              pen.add_series(panel, content,
                             [&](Seconds time, const PointKey&) { return std::max(time.value, times.min); });
              add_fitted(panel, content, group, fitted, pen, times);
              add_crossovers(panel, content.ranks, lines, headroom);
            },
    };
  });
}

}  // namespace ringside::plots
