#include <algorithm>
#include <map>
#include <utility>

#include "common/mapped.hpp"
#include "plots/charts/charts.hpp"
#include "plots/charts/small_multiples.hpp"
#include "plots/drawing/palette.hpp"
#include "plots/drawing/tics.hpp"

namespace ringside::plots {
namespace {

/// A log axis with the values themselves as tics; of many every so many-th.
Axis key_axis(const KeyLines& lines) {
  constexpr std::size_t kMostTics = 8;
  constexpr double kRoom = 1.05;
  Axis axis{.label = lines.key,
            .min = lines.values.front() / kRoom,
            .max = lines.values.back() * kRoom,
            .log = true};
  const std::size_t every = (lines.values.size() + kMostTics - 1) / kMostTics;
  for (std::size_t i = 0; i < lines.values.size(); i += every) {
    axis.tics.push_back({lines.values[i], lines.labels[i]});
  }
  return axis;
}

/// `value_at(line, i)` is what stands over the i-th value; nothing where the algorithm has none.
template <typename ValueAt>
Panel panel_of(const KeyLines& lines, const Rect& area, const std::map<std::string, SeriesStyle>& styles,
               ValueAt value_at) {
  Panel panel{.area = area, .x = key_axis(lines)};
  Range range;
  bool any = false;
  for (const KeyLines::Line& line : lines.lines) {
    const SeriesStyle& style = styles.at(line.algorithm);
    Polyline drawn{.stroke = style.line()};
    Marks marks{.style = style.mark()};
    for (std::size_t i = 0; i < lines.values.size(); ++i) {
      const std::optional<double> value = value_at(line, i);
      if (value && *value > 0) {
        range = any ? range : Range{*value, *value};
        any = true;
        range.include(*value);
        drawn.points.push_back({lines.values[i], *value});
        marks.marks.push_back({lines.values[i], *value});
      }
    }
    panel.elements.emplace_back(std::move(drawn));
    panel.elements.emplace_back(std::move(marks));
  }
  const Range shown = padded(range, 0.05, 1.2);
  panel.y = {.min = shown.min, .max = shown.max, .log = true};
  return panel;
}

}  // namespace

std::vector<Figure> lines_over_key(const KeyLines& lines, const std::string& subtitle,
                                   const ChartContext& context) {
  if (lines.values.size() < 2 || lines.lines.empty() ||
      !std::is_sorted(lines.values.begin(), lines.values.end())) {
    return {};
  }
  const std::vector<std::string> algorithms = mapped(lines.lines, &KeyLines::Line::algorithm);
  const auto styles = series_styles(algorithms);
  std::vector<LegendEntry> legend;
  for (const std::string& algorithm : algorithms) {
    const SeriesStyle& style = styles.at(algorithm);
    legend.push_back({.label = algorithm, .line = style.line(), .mark = style.mark()});
  }
  std::string name = "sweep_" + lines.key;
  std::replace(name.begin(), name.end(), ' ', '_');
  Figure figure{.name = name, .width = width_for(context.size, 1400), .height = 700};
  const int columns = figure.width < 800 ? 1 : 2;
  figure.height = columns == 1 ? 1060 : figure.height;
  const Rect area = lay_out_page(figure, page_text(context, subtitle), legend);
  const PanelGrid grid = lay_out_panels(area, 2, columns, {.left = 112, .gap_x = 130, .gap_y = 100});
  Panel time = panel_of(lines, grid.areas[0], styles,
                        [](const KeyLines::Line& line, std::size_t i) { return line.seconds[i]; });
  time.y.label = "time";
  time.y.tics = time_tics({time.y.min, time.y.max}, time.area.height);
  const KeyLines::Line& first = lines.lines.front();
  Panel speedup = panel_of(lines, grid.areas[1], styles, [&](const KeyLines::Line& line, std::size_t i) {
    return first.seconds[i] && line.seconds[i] && *line.seconds[i] > 0
               ? std::optional(*first.seconds[i] / *line.seconds[i])
               : std::nullopt;
  });
  speedup.y.label = "times as fast as " + first.algorithm;
  speedup.y.tics = ratio_tics({speedup.y.min, speedup.y.max}, speedup.area.height);
  figure.panels.push_back(std::move(time));
  figure.panels.push_back(std::move(speedup));
  return {figure};
}

}  // namespace ringside::plots
