#include "plots/charts/small_multiples.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/comparison/point_sentences.hpp"
#include "common/text.hpp"

namespace ringside::plots {
namespace {

constexpr std::size_t kPanelsPerFile = 6;

/// Whether people who chose these sizes count in powers of ten: `1 MB` and not `1 MiB`.
bool are_decimal(const std::set<std::int64_t>& sizes) {
  const auto decimal =
      std::ranges::count_if(sizes, [](std::int64_t size) { return size % 1000 == 0 && size % 1024 != 0; });
  return 2 * decimal > static_cast<std::ptrdiff_t>(sizes.size());
}

/// Powers of two or ten, or the sizes themselves where an axis holds hardly any of these.
std::vector<Tic> x_tics(const Range& axis, const std::set<std::int64_t>& sizes, double pixels) {
  std::vector<Tic> tics = are_decimal(sizes) ? decimal_size_tics(axis, pixels) : size_tics(axis, pixels);
  const auto labelled = std::ranges::count_if(tics, [](const Tic& tic) { return !tic.label.empty(); });
  if (labelled >= 2 && sizes.size() > kFewSizes) {
    return tics;
  }
  tics.clear();
  for (const std::int64_t size : sizes) {
    tics.push_back({static_cast<double>(size), format(Bytes{size})});
  }
  keep_labels_apart(
      tics, 0, [&](double at) { return std::log(at / axis.min) / std::log(axis.max / axis.min) * pixels; });
  return tics;
}

Axis x_axis(const std::set<std::int64_t>& sizes) {
  const Range held{static_cast<double>(*sizes.begin()), static_cast<double>(*sizes.rbegin())};
  const Range range = sizes.size() > kFewSizes ? padded(held, 0.03, 1.1)
                      : sizes.size() > 1       ? padded(held, 0.1, 1.1)
                                               : padded(held, 0, 1.6);
  return {.label = "message size", .min = range.min, .max = range.max, .log = true};
}

int num_columns(std::size_t panels, double width) {
  constexpr std::array kColumns = {1, 1, 2, 3, 2, 3, 3};
  constexpr double kLeastWidth = 340;
  return std::clamp(static_cast<int>(width / kLeastWidth), 1, kColumns[std::min(panels, kPanelsPerFile)]);
}

/// Extends an axis so that `headroom` of its `pixels` lie beyond what it ends with now.
void add_headroom(Axis& axis, double headroom, double pixels) {
  const double share = 1 / (1 - headroom / pixels);
  axis.max =
      axis.log ? axis.min * std::pow(axis.max / axis.min, share) : axis.min + (axis.max - axis.min) * share;
}

/// A chart of both says where measurement and prediction have different execution policies.
std::vector<LegendEntry> legend_with_policies(std::vector<LegendEntry> legend, const PointGroup& group) {
  std::set<std::string> algorithms;
  for_each_point(group, [&](const Point& point) {
    if (policies_differ(point)) {
      algorithms.insert(point.key.algorithm);
    }
  });
  if (!algorithms.empty()) {
    legend.push_back({.label = fmt::format("measured under another execution policy than predicted: {}",
                                           fmt::join(algorithms, ", "))});
  }
  return legend;
}

Figure draw_page(const SmallMultiples& chart, std::span<const RanksPanel> panels, const PointGroup& group,
                 const std::string& name, const PageText& text, int width) {
  const int columns = num_columns(panels.size(), width);
  const int rows = (static_cast<int>(panels.size()) + columns - 1) / columns;
  Figure figure{.name = name, .width = width, .height = 400 + 340 * rows};
  const Rect area = lay_out_page(figure, text, legend_with_policies(chart.legend, group));
  const double height = lay_out_panels(area, panels.size(), columns).areas.front().height;
  Axis y = chart.y;
  y.tics = chart.y_tics(height - chart.headroom);
  add_headroom(y, chart.headroom, height);
  const PanelGrid grid = lay_out_panels(area, panels.size(), columns, {.left = y_axis_room(y) + 12});
  for (std::size_t index = 0; index < panels.size(); ++index) {
    Panel panel{.area = grid.areas[index],
                .title = count_of(panels[index].ranks, "rank"),
                .x = x_axis(group.sizes),
                .y = y};
    panel.x.tics = x_tics({panel.x.min, panel.x.max}, group.sizes, panel.area.width);
    if (!grid.labels_x(index)) {
      panel.x.label.clear();
      panel.x.show_tic_labels = false;
    }
    if (!grid.labels_y(index)) {
      panel.y.label.clear();
      panel.y.show_tic_labels = false;
    }
    chart.fill(panel, panels[index]);
    figure.panels.push_back(std::move(panel));
  }
  return figure;
}

}  // namespace

Range padded(const Range& range, double share, double least_factor) {
  const double factor = std::max(std::pow(range.max / range.min, share), least_factor);
  return {range.min / factor, range.max * factor};
}

std::vector<Figure> draw_small_multiples(
    const std::vector<Point>& points, const ChartContext& context,
    const std::function<SmallMultiples(const PointGroup&, const SeriesPen&)>& chart_of) {
  std::vector<Figure> figures;
  for (const PointGroup& group : group_points(points)) {
    const SeriesPen pen(group);
    const SmallMultiples chart = chart_of(group, pen);
    const std::span panels(group.panels);
    const std::size_t num_pages = (panels.size() + kPanelsPerFile - 1) / kPanelsPerFile;
    for (std::size_t page = 0; page < num_pages; ++page) {
      const std::size_t first = page * kPanelsPerFile;
      const std::string number = page == 0 ? "" : fmt::format("_{}", page + 1);
      const std::string note = num_pages == 1 ? "" : fmt::format(" (page {} of {})", page + 1, num_pages);
      figures.push_back(draw_page(chart,
                                  panels.subspan(first, std::min(kPanelsPerFile, panels.size() - first)),
                                  group, chart.name + group.suffix + number,
                                  page_text(context, chart.subtitle + note), width_for(context.size, 1200)));
    }
  }
  return figures;
}

}  // namespace ringside::plots
