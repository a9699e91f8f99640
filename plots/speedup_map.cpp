#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include "common/error.hpp"
#include "plots/charts.hpp"
#include "plots/color_bar.hpp"
#include "plots/page.hpp"
#include "plots/palette.hpp"
#include "plots/text.hpp"
#include "plots/tics.hpp"

namespace ringside::plots {
namespace {

constexpr double kMaxDoublings = 4;  // 16 × has the darkest colour, and so has all beyond.
constexpr Color kUnknown{.rgb = 0xBBBBBB};

/// Cells meet half way between neighbouring positions (all are logarithms).
struct Span {
  double low, high;
};

std::vector<Span> spans(const std::vector<double>& positions) {
  std::vector<Span> result;
  for (std::size_t index = 0; index < positions.size(); ++index) {
    const double at = positions[index];
    const double below = index > 0 ? (at - positions[index - 1]) / 2 : 0;
    const double above = index + 1 < positions.size() ? (positions[index + 1] - at) / 2 : 0;
    const double alone = positions.size() == 1 ? 0.5 : 0;
    result.push_back({at - (index > 0 ? below : std::max(above, alone)),
                      at + (index + 1 < positions.size() ? above : std::max(below, alone))});
  }
  return result;
}

/// All positions as tics; labels as many as fit one after another.
std::vector<Tic> spaced_tics(const std::vector<double>& positions, const std::vector<std::string>& labels,
                             double pixels_per_unit, bool horizontal) {
  std::vector<Tic> tics;
  double free_from = -std::numeric_limits<double>::infinity();
  for (std::size_t index = 0; index < positions.size(); ++index) {
    const double half = horizontal ? text_width(labels[index], {}) / 2 + 6 : 10;
    const double pixel = positions[index] * pixels_per_unit;
    const bool fits = pixel - half >= free_from;
    tics.push_back({positions[index], fits ? labels[index] : ""});
    free_from = fits ? pixel + half : free_from;
  }
  return tics;
}

/// The colour scale reaches equally far to both sides: whole doublings, at least one.
struct Scale {
  double doublings = 1;
  bool clamped = false;  ///< Some values are beyond the scale.
};

Scale scale_of(const SpeedupGrid& grid) {
  double most = 1;
  const auto include = [&](double speedup) {
    if (std::isfinite(speedup) && speedup > 0) {
      most = std::max(most, std::abs(std::log2(speedup)));
    }
  };
  for (const std::vector<double>& row : grid.speedup) {
    std::for_each(row.begin(), row.end(), include);
  }
  for (const SpeedupGrid::MeasuredCell& cell : grid.measured) {
    include(cell.speedup);
  }
  const double whole = std::ceil(most - 1e-9);
  return {std::min(kMaxDoublings, whole), whole > kMaxDoublings};
}

ColorBar bar_of(const SpeedupGrid& grid, const Scale& scale) {
  ColorBar bar{.title = "", .color = [](double at) { return diverging_color(2 * at - 1); }, .labels = {}};
  bar.labels.push_back({0.5, "equally fast"});
  for (int doubling = 1; doubling <= static_cast<int>(scale.doublings); ++doubling) {
    const bool last = doubling == static_cast<int>(scale.doublings);
    const std::string times = fmt::format("{}{}×", last && scale.clamped ? "≥ " : "", 1 << doubling);
    const double reach = doubling / scale.doublings / 2;
    bar.labels.push_back({0.5 + reach, fmt::format("{} {} faster", grid.candidate, times)});
    bar.labels.push_back({0.5 - reach, fmt::format("{} {} faster", grid.baseline, times)});
  }
  return bar;
}

/// What a measured cell says: the winner, or its first letter where that is clear and all there is room for.
std::string winner_text(const SpeedupGrid& grid, double speedup, const Font& font, double room) {
  const std::string& winner = speedup >= 1 ? grid.candidate : grid.baseline;
  if (text_width(winner, font) <= room) {
    return winner;
  }
  return grid.baseline.front() != grid.candidate.front() ? winner.substr(0, 1) : "";
}

/// Where both algorithms are equally fast, between the centres of cells.
void add_contour(Panel& panel, const std::vector<double>& x, const std::vector<double>& y,
                 const std::vector<std::vector<double>>& values) {
  if (x.size() < 2 || y.size() < 2) {
    return;
  }
  for (const std::vector<double>& row : values) {
    if (!std::all_of(row.begin(), row.end(), [](double value) { return std::isfinite(value); })) {
      return;  // A contour around holes would be a guess.
    }
  }
  panel.elements.emplace_back(
      Contour{.x = x, .y = y, .values = values, .level = 0, .stroke = {.color = kBlack, .width = 2.5}});
}

}  // namespace

std::vector<Figure> speedup_map(const SpeedupGrid& grid, const ChartContext& context) {
  RINGSIDE_CHECK(grid.speedup.size() == grid.ranks.size(), "a speedup grid has a row per number of ranks");
  if (grid.ranks.empty() || grid.sizes.empty()) {
    return {};
  }
  std::vector<double> x;
  std::vector<double> y;
  std::vector<std::string> x_labels;
  std::vector<std::string> y_labels;
  for (const Bytes size : grid.sizes) {
    x.push_back(std::log2(static_cast<double>(std::max<std::int64_t>(size.value, 1))));
    x_labels.push_back(format(size));
  }
  for (const int ranks : grid.ranks) {
    y.push_back(std::log2(ranks));
    y_labels.push_back(fmt::format("{}", ranks));
  }
  const std::vector<Span> columns = spans(x);
  const std::vector<Span> rows = spans(y);
  const Scale scale = scale_of(grid);
  const ColorBar bar = bar_of(grid, scale);

  std::vector<LegendEntry> legend = {
      {.label = fmt::format("predicted: {} and {} equally fast", grid.baseline, grid.candidate),
       .line = Stroke{.color = kBlack, .width = 2.5}}};
  if (!grid.measured.empty()) {
    legend.push_back(
        {.label = "measured: inner colour = speedup, text = winner",
         .mark = MarkStyle{.color = kWhite, .shape = Shape::square, .size = 2.4, .outlined = true}});
  }
  Figure figure{.name = "speedup_map", .width = 1200, .height = 760};
  const Rect area = lay_out_page(
      figure,
      page_text(context, fmt::format("predicted speedup of {} over {}", grid.candidate, grid.baseline)),
      legend);
  const double bar_room = color_bar_width(bar) + 50;
  const PanelGrid place = lay_out_panels(area, 1, 1, {.left = 92, .right = bar_room, .top = 20});

  Panel panel{.area = place.areas[0], .grid = false};
  panel.x = {.label = "message size", .min = columns.front().low, .max = columns.back().high};
  panel.y = {.label = "ranks", .min = rows.front().low, .max = rows.back().high};
  const double x_pixels = panel.area.width / (panel.x.max - panel.x.min);
  const double y_pixels = panel.area.height / (panel.y.max - panel.y.min);
  panel.x.tics = spaced_tics(x, x_labels, x_pixels, true);
  panel.y.tics = spaced_tics(y, y_labels, y_pixels, false);

  Boxes cells{.border = Stroke{.color = kWhite, .width = 0.6}};
  std::vector<std::vector<double>> logarithms;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    RINGSIDE_CHECK(grid.speedup[row].size() == columns.size(), "a speedup grid has a column per size");
    std::vector<double>& of_row = logarithms.emplace_back();
    for (std::size_t column = 0; column < columns.size(); ++column) {
      of_row.push_back(std::log2(grid.speedup[row][column]));
      const bool known = std::isfinite(of_row.back());
      cells.boxes.push_back({columns[column].low, columns[column].high, rows[row].low, rows[row].high,
                             known ? diverging_color(of_row.back() / scale.doublings) : kUnknown});
    }
  }
  panel.elements.emplace_back(std::move(cells));
  add_contour(panel, x, y, logarithms);

  Boxes measured{.border = Stroke{.color = kBlack, .width = 1.5}};
  std::vector<Text> winners;
  for (const SpeedupGrid::MeasuredCell& cell : grid.measured) {
    const auto row = std::find(grid.ranks.begin(), grid.ranks.end(), cell.ranks) - grid.ranks.begin();
    const auto column = std::find(grid.sizes.begin(), grid.sizes.end(), cell.bytes) - grid.sizes.begin();
    const auto r = static_cast<std::size_t>(row);
    const auto c = static_cast<std::size_t>(column);
    if (r == grid.ranks.size() || c == grid.sizes.size() || !(cell.speedup > 0) ||
        !std::isfinite(cell.speedup)) {
      continue;
    }
    const double inset_x = 0.16 * (columns[c].high - columns[c].low);
    const double inset_y =
        std::max(0.16 * (rows[r].high - rows[r].low), (rows[r].high - rows[r].low) / 2 - 22 / y_pixels);
    const Color fill = diverging_color(std::log2(cell.speedup) / scale.doublings);
    measured.boxes.push_back({columns[c].low + inset_x, columns[c].high - inset_x, rows[r].low + inset_y,
                              rows[r].high - inset_y, fill});
    const Font font{.size = 13};
    const double room = (columns[c].high - columns[c].low - 2 * inset_x) * x_pixels - 4;
    winners.push_back({.at = {(columns[c].low + columns[c].high) / 2, (rows[r].low + rows[r].high) / 2},
                       .text = winner_text(grid, cell.speedup, font, room),
                       .align = Align::center,
                       .font = font,
                       .color = readable_on(fill)});
  }
  panel.elements.emplace_back(std::move(measured));
  panel.elements.insert(panel.elements.end(), winners.begin(), winners.end());

  const Rect beside{.left = panel.area.left + panel.area.width + 26,
                    .top = panel.area.top,
                    .width = bar_room,
                    .height = panel.area.height};
  figure.panels.push_back(std::move(panel));
  figure.panels.push_back(color_bar_panel(bar, beside));
  return {figure};
}

}  // namespace ringside::plots
