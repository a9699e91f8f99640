#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "analysis/comparison/comparison.hpp"
#include "common/error.hpp"
#include "common/mapped.hpp"
#include "common/text.hpp"
#include "plots/charts/charts.hpp"
#include "plots/drawing/palette.hpp"
#include "plots/drawing/text.hpp"
#include "plots/drawing/tics.hpp"

namespace ringside::plots {
namespace {

constexpr double kMaxDoublings = 4;  // 16 × has the darkest colour, and so has all beyond.
constexpr Color kUnknown{.rgb = 0xBBBBBB};
constexpr Stroke kContourStroke{.color = kBlack, .width = 2.5};

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

/// What a measured cell says: the winner and the factor; or the factor alone, and colour says who.
std::string winner_text(const SpeedupGrid& grid, double speedup, double room) {
  if (std::max(speedup, 1 / speedup) <= 1 + kWorthHaving) {
    return first_that_fits({"equal", "="}, kSmallFont, room);
  }
  const std::string& winner = speedup >= 1 ? grid.candidate : grid.baseline;
  const std::string factor = factor_text(std::max(speedup, 1 / speedup), 1);
  return first_that_fits({fmt::format("{} {}", winner, factor), factor}, kSmallFont, room);
}

/// The grid in the units of the panel: logarithms of sizes, ranks and speedups.
struct Cells {
  std::vector<double> x, y;
  std::vector<Span> columns, rows;
  std::vector<std::vector<double>> doublings;  ///< Not finite where there is no prediction.
};

Cells cells_of(const SpeedupGrid& grid) {
  Cells cells;
  for (const Bytes size : grid.sizes) {
    cells.x.push_back(std::log2(static_cast<double>(std::max<std::int64_t>(size.value, 1))));
  }
  for (const int ranks : grid.ranks) {
    cells.y.push_back(std::log2(ranks));
  }
  for (const std::vector<double>& row : grid.speedup) {
    RINGSIDE_CHECK(row.size() == grid.sizes.size(), "a speedup grid has a column per size");
    cells.doublings.push_back(mapped(row, [](double speedup) { return std::log2(speedup); }));
  }
  cells.columns = spans(cells.x);
  cells.rows = spans(cells.y);
  return cells;
}

Panel empty_map(const SpeedupGrid& grid, const Cells& cells, const Rect& area) {
  Panel map{.area = area, .grid = false};
  map.x = {.label = "message size", .min = cells.columns.front().low, .max = cells.columns.back().high};
  map.y = {.label = "ranks", .min = cells.rows.front().low, .max = cells.rows.back().high};
  for (std::size_t column = 0; column < cells.x.size(); ++column) {
    map.x.tics.push_back({cells.x[column], format(grid.sizes[column])});
  }
  for (std::size_t row = 0; row < cells.y.size(); ++row) {
    map.y.tics.push_back({cells.y[row], std::to_string(grid.ranks[row])});
  }
  const double x_scale = area.width / (map.x.max - map.x.min);
  const double y_scale = area.height / (map.y.max - map.y.min);
  keep_labels_apart(map.x.tics, 0, [&](double at) { return at * x_scale; });
  keep_labels_apart(map.y.tics, 10, [&](double at) { return at * y_scale; });
  return map;
}

/// Whether the two are equally fast anywhere between the predicted cells. Contours around holes are guesses.
bool has_contour(const Cells& cells) {
  bool slower = false;
  bool faster = false;
  for (const std::vector<double>& row : cells.doublings) {
    for (const double doublings : row) {
      if (!std::isfinite(doublings)) {
        return false;
      }
      slower = slower || doublings < 0;
      faster = faster || doublings > 0;
    }
  }
  return cells.x.size() > 1 && cells.y.size() > 1 && slower && faster;
}

void add_predicted(Panel& map, const Cells& cells, const Scale& scale) {
  Boxes boxes{.border = Stroke{.color = kWhite, .width = 0.6}};
  for (std::size_t row = 0; row < cells.rows.size(); ++row) {
    for (std::size_t column = 0; column < cells.columns.size(); ++column) {
      const double doublings = cells.doublings[row][column];
      const bool known = std::isfinite(doublings);
      boxes.boxes.push_back({cells.columns[column].low, cells.columns[column].high, cells.rows[row].low,
                             cells.rows[row].high,
                             known ? diverging_color(doublings / scale.doublings) : kUnknown});
    }
  }
  map.elements.emplace_back(std::move(boxes));
  if (has_contour(cells)) {
    map.elements.emplace_back(
        Contour{.x = cells.x, .y = cells.y, .values = cells.doublings, .level = 0, .stroke = kContourStroke});
  }
}

/// A framed box inside each cell that was measured; cells that the grid does not have are skipped.
void add_measured(Panel& map, const SpeedupGrid& grid, const Cells& cells, const Scale& scale) {
  constexpr double kInset = 0.08;        // Share of a cell, on each side.
  constexpr double kMaxHalfHeight = 22;  // Pixels.
  const double x_pixels = map.area.width / (map.x.max - map.x.min);
  const double y_pixels = map.area.height / (map.y.max - map.y.min);
  Boxes boxes{.border = Stroke{.color = kBlack, .width = 1.5}};
  std::vector<Text> winners;
  for (const SpeedupGrid::MeasuredCell& cell : grid.measured) {
    const auto rank = std::ranges::find(grid.ranks, cell.ranks);
    const auto size = std::ranges::find(grid.sizes, cell.bytes);
    const bool drawable = cell.speedup > 0 && std::isfinite(cell.speedup);
    if (rank == grid.ranks.end() || size == grid.sizes.end() || !drawable) {
      continue;
    }
    const Span& row = cells.rows[static_cast<std::size_t>(rank - grid.ranks.begin())];
    const Span& column = cells.columns[static_cast<std::size_t>(size - grid.sizes.begin())];
    const XY middle{(column.low + column.high) / 2, (row.low + row.high) / 2};
    const double half_width = (0.5 - kInset) * (column.high - column.low);
    const double half_height = std::min((0.5 - kInset) * (row.high - row.low), kMaxHalfHeight / y_pixels);
    const Color fill = diverging_color(std::log2(cell.speedup) / scale.doublings);
    boxes.boxes.push_back(
        {middle.x - half_width, middle.x + half_width, middle.y - half_height, middle.y + half_height, fill});
    const double room = 2 * half_width * x_pixels - 2;
    winners.push_back(centred(middle, winner_text(grid, cell.speedup, room), kSmallFont, readable_on(fill)));
  }
  map.elements.emplace_back(std::move(boxes));
  map.elements.insert(map.elements.end(), winners.begin(), winners.end());
}

std::vector<LegendEntry> legend_of(const SpeedupGrid& grid, const Cells& cells) {
  std::vector<LegendEntry> legend;
  if (has_contour(cells)) {
    legend.push_back(
        {.label = fmt::format("predicted: {} and {} equally fast", grid.baseline, grid.candidate),
         .line = kContourStroke});
  }
  if (!grid.measured.empty()) {
    legend.push_back(
        {.label = "measured: inner colour, and by how much the winner is faster",
         .mark = MarkStyle{.color = kWhite, .shape = Shape::square, .size = 2.4, .outlined = true}});
  }
  return legend;
}

}  // namespace

std::vector<Figure> speedup_map(const SpeedupGrid& grid, const ChartContext& context) {
  RINGSIDE_CHECK(grid.speedup.size() == grid.ranks.size(), "a speedup grid has a row per number of ranks");
  if (grid.ranks.empty() || grid.sizes.empty()) {
    return {};
  }
  const Cells cells = cells_of(grid);
  const Scale scale = scale_of(grid);
  const ColorBar bar = bar_of(grid, scale);

  Figure figure{.name = "speedup_map", .width = width_for(context.size, 1200), .height = 760};
  const std::string subtitle = fmt::format("predicted speedup of {} over {}", grid.candidate, grid.baseline);
  const Rect area = lay_out_page(figure, page_text(context, subtitle), legend_of(grid, cells));
  Panel map =
      empty_map(grid, cells,
                lay_out_panels(area, 1, 1, {.left = 92, .right = color_bar_width(bar), .top = 20}).areas[0]);
  add_predicted(map, cells, scale);
  add_measured(map, grid, cells, scale);
  figure.panels.push_back(std::move(map));
  figure.panels.push_back(color_bar_panel(bar, figure.panels.back().area));
  return {figure};
}

}  // namespace ringside::plots
