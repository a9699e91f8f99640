#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "common/error.hpp"
#include "plots/charts.hpp"
#include "plots/color_bar.hpp"
#include "plots/page.hpp"
#include "plots/palette.hpp"
#include "plots/text.hpp"

namespace ringside::plots {
namespace {

constexpr Color kUnknown{.rgb = 0xCCCCCC};
constexpr double kMinCellHeight = 17;
constexpr double kMaxCellHeight = 110;

double widest(const std::vector<std::string>& texts) {
  double width = 0;
  for (const std::string& text : texts) {
    width = std::max(width, text_width(text, {}));
  }
  return width;
}

/// Labels of cells along an axis, every n-th where there is no room for all.
std::vector<Tic> cell_tics(const std::vector<std::string>& labels, double pixels_per_cell,
                           double pixels_per_label) {
  const auto step = static_cast<std::size_t>(std::max(1.0, std::ceil(pixels_per_label / pixels_per_cell)));
  std::vector<Tic> tics;
  for (std::size_t index = 0; index < labels.size(); index += step) {
    tics.push_back({static_cast<double>(index) + 0.5, labels[index]});
  }
  return tics;
}

}  // namespace

std::vector<Figure> heat_map(const LabelledMatrix& matrix, const ChartContext& context) {
  RINGSIDE_CHECK(matrix.values.size() == matrix.rows.size(), "a matrix has a value row per row label");
  if (matrix.rows.empty() || matrix.columns.empty()) {
    return {};
  }
  const auto label = [&](double value) {
    return matrix.label ? matrix.label(value) : fmt::format("{:.3g}", value);
  };
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  double widest_label = 0;
  bool unknown = false;
  for (const std::vector<double>& row : matrix.values) {
    RINGSIDE_CHECK(row.size() == matrix.columns.size(), "a matrix has a value per column label");
    for (const double value : row) {
      unknown = unknown || !std::isfinite(value);
      if (std::isfinite(value)) {
        low = std::min(low, value);
        high = std::max(high, value);
        widest_label = std::max(widest_label, text_width(label(value), {.size = 14}));
      }
    }
  }
  if (low > high) {
    return {};
  }
  // Noise must not look like structure: the scale spans at least a quarter of the largest value.
  constexpr double kLeastSpan = 0.25;
  low = std::min(low, high - kLeastSpan * std::abs(high));
  const auto position = [&](double value) { return high > low ? (value - low) / (high - low) : 0.5; };

  ColorBar bar{.title = matrix.value_title, .color = sequential_color, .labels = {}};
  if (high > low) {
    for (int quarter = 0; quarter <= 4; ++quarter) {
      bar.labels.push_back({quarter / 4.0, label(low + quarter / 4.0 * (high - low))});
    }
  } else {
    bar.labels.push_back({0.5, label(low)});
  }

  const auto num_rows = static_cast<double>(matrix.rows.size());
  const auto num_columns = static_cast<double>(matrix.columns.size());
  const double cell_height = std::clamp(620 / num_rows, kMinCellHeight, kMaxCellHeight);
  std::vector<LegendEntry> legend;
  if (unknown) {
    legend.push_back(
        {.label = "not known",
         .mark = MarkStyle{.color = kUnknown, .shape = Shape::square, .size = 2.4, .outlined = true}});
  }
  constexpr double kAround = 230;  // Title, legend, axis and footer.
  Figure figure{.name = matrix.name,
                .width = 1200,
                .height = static_cast<int>(std::max(460.0, cell_height * num_rows + kAround))};
  const Rect area = lay_out_page(figure, page_text(context, matrix.subtitle), legend);
  constexpr double kMaxRowLabel = 240;
  std::vector<std::string> row_labels;
  for (const std::string& text : matrix.rows) {
    row_labels.push_back(shortened(text, {}, kMaxRowLabel));
  }
  Panel panel{.area = {}, .grid = false};
  panel.y = {
      .label = matrix.row_title, .min = num_rows, .max = 0, .tics = cell_tics(row_labels, cell_height, 18)};
  const PanelMargins margins{
      .left = y_axis_room(panel.y) + 12, .right = color_bar_width(bar) + 50, .top = 36};
  panel.area = lay_out_panels(area, 1, 1, margins).areas[0];
  panel.area.height = std::min(panel.area.height, cell_height * num_rows);
  const double cell_width = panel.area.width / num_columns;
  const double height = panel.area.height / num_rows;
  panel.x = {.label = matrix.column_title,
             .min = 0,
             .max = num_columns,
             .tics = cell_tics(matrix.columns, cell_width, widest(matrix.columns) + 12)};
  const Font font{.size = std::min(14.0, height - 3)};
  const bool labelled = widest_label + 6 <= cell_width;
  Boxes cells{.border = Stroke{.color = kWhite, .width = 1}};
  std::vector<Text> texts;
  for (std::size_t row = 0; row < matrix.rows.size(); ++row) {
    for (std::size_t column = 0; column < matrix.columns.size(); ++column) {
      const double value = matrix.values[row][column];
      const Color fill = std::isfinite(value) ? sequential_color(position(value)) : kUnknown;
      const auto x = static_cast<double>(column);
      const auto y = static_cast<double>(row);
      cells.boxes.push_back({x, x + 1, y, y + 1, fill});
      if (labelled && std::isfinite(value)) {
        texts.push_back({.at = {x + 0.5, y + 0.5},
                         .text = label(value),
                         .align = Align::center,
                         .font = font,
                         .color = readable_on(fill)});
      }
    }
  }
  panel.elements.emplace_back(std::move(cells));
  panel.elements.insert(panel.elements.end(), texts.begin(), texts.end());
  const Rect beside{.left = panel.area.left + panel.area.width + 26,
                    .top = panel.area.top,
                    .width = 100,
                    .height = panel.area.height};
  figure.panels.push_back(std::move(panel));
  figure.panels.push_back(color_bar_panel(bar, beside));
  return {figure};
}

}  // namespace ringside::plots
