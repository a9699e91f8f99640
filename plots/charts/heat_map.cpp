#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "common/error.hpp"
#include "common/mapped.hpp"
#include "plots/charts/charts.hpp"
#include "plots/drawing/palette.hpp"
#include "plots/drawing/text.hpp"

namespace ringside::plots {
namespace {

constexpr Color kUnknown{.rgb = 0xCCCCCC};
constexpr Font kValueFont{.size = 14};
constexpr double kMaxRowLabel = 240;
constexpr double kUsualHeight = 620;  // Height of all cells together …
constexpr double kMaxHeight = 2400;   // … and where there are very many.
constexpr double kMinCellHeight = 17;
constexpr double kMaxCellHeight = 110;

double widest(const std::vector<std::string>& texts) {
  double width = 0;
  for (const std::string& text : texts) {
    width = std::max(width, text_width(text, {}));
  }
  return width;
}

/// Labels of cells along an axis, every n-th where not all fit.
std::vector<Tic> cell_tics(const std::vector<std::string>& labels, double pixels_per_cell,
                           double pixels_per_label) {
  const auto step = static_cast<std::size_t>(std::max(1.0, std::ceil(pixels_per_label / pixels_per_cell)));
  std::vector<Tic> tics;
  for (std::size_t index = 0; index < labels.size(); index += step) {
    tics.push_back({static_cast<double>(index) + 0.5, labels[index]});
  }
  return tics;
}

const std::string& category_of(const LabelledMatrix& matrix, double value) {
  const auto index = static_cast<std::size_t>(value);
  RINGSIDE_CHECK(value >= 0 && index < matrix.categories.size(),
                 "a value of a matrix is one of its categories");
  return matrix.categories[index];
}

std::string label_of(const LabelledMatrix& matrix, double value) {
  if (!matrix.categories.empty()) {
    return category_of(matrix, value);
  }
  return matrix.label ? matrix.label(value) : fmt::format("{:.3g}", value);
}

std::string text_of(const LabelledMatrix& matrix, std::size_t row, std::size_t column) {
  return matrix.texts.empty() ? label_of(matrix, matrix.values[row][column])
                              : matrix.texts.at(row).at(column);
}

/// Where a value stands on its scale.
double scaled(const LabelledMatrix& matrix, double value) {
  return matrix.bandwidth_ratio ? std::log2(value) : value;
}

/// What is known about all values together, on their scale.
struct Values {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  double widest_label = 0;
  bool some_unknown = false;
  std::map<std::string, Color> categories = {};  ///< A colour of each.
  bool diverging = false;                        ///< Half way is white, below it orange.

  bool none() const { return low > high; }
  /// On the colour scale, 0 … 1.
  double position(double value) const { return high > low ? (value - low) / (high - low) : 0.5; }
};

Values values_of(const LabelledMatrix& matrix) {
  Values values;
  for (std::size_t row = 0; row < matrix.values.size(); ++row) {
    RINGSIDE_CHECK(matrix.values[row].size() == matrix.columns.size(),
                   "a matrix has a value per column label");
    for (std::size_t column = 0; column < matrix.columns.size(); ++column) {
      const double value = matrix.values[row][column];
      if (!std::isfinite(scaled(matrix, value))) {
        values.some_unknown = true;
        continue;
      }
      values.low = std::min(values.low, scaled(matrix, value));
      values.high = std::max(values.high, scaled(matrix, value));
      values.widest_label =
          std::max(values.widest_label, text_width(text_of(matrix, row, column), kValueFont));
    }
  }
  if (values.none()) {
    return values;
  }
  if (!matrix.categories.empty()) {
    values.categories = category_colors(matrix.categories);
    if (!matrix.neutral.empty()) {
      values.categories.at(matrix.neutral) = kLightGrey;
    }
    return values;
  }
  // Noise must not look like structure: the scale spans at least a quarter of the largest value.
  constexpr double kLeastSpan = 0.25;
  values.diverging = matrix.bandwidth_ratio || values.low < 0;
  if (values.diverging) {
    double reach = std::max(std::abs(values.low), std::abs(values.high));
    if (matrix.bandwidth_ratio) {
      // Labels at whole doublings, half way, too.
      reach = reach > 1 ? 2 * std::ceil(reach / 2) : std::max(reach, kLeastSpan);
    }
    values.low = -reach;
    values.high = reach;
    return values;
  }
  values.low = std::min(values.low, values.high - kLeastSpan * std::abs(values.high));
  return values;
}

/// `at` is 0 … 1.
Color scale_color(const Values& values, double at) {
  return values.diverging ? diverging_color(2 * at - 1) : sequential_color(at);
}

Color color_of(const LabelledMatrix& matrix, const Values& values, double value) {
  return matrix.categories.empty() ? scale_color(values, values.position(scaled(matrix, value)))
                                   : values.categories.at(category_of(matrix, value));
}

/// Categories that occur, in their order, and what grey means.
std::vector<LegendEntry> legend_of(const LabelledMatrix& matrix, const Values& values) {
  std::vector<LegendEntry> legend;
  for (std::size_t index = 0; index < matrix.categories.size(); ++index) {
    const bool occurs = std::ranges::any_of(matrix.values, [&](const auto& row) {
      return std::ranges::find(row, static_cast<double>(index)) != row.end();
    });
    if (occurs) {
      legend.push_back(
          {.label = matrix.categories[index], .band = values.categories.at(matrix.categories[index])});
    }
  }
  if (values.some_unknown) {
    legend.push_back(
        {.label = "not known",
         .mark = MarkStyle{.color = kUnknown, .shape = Shape::square, .size = 2.4, .outlined = true}});
  }
  return legend;
}

ColorBar bar_of(const LabelledMatrix& matrix, const Values& values) {
  ColorBar bar{.title = matrix.value_title,
               .color = [values](double at) { return scale_color(values, at); },
               .labels = {}};
  if (values.low == values.high) {
    bar.labels.push_back({0.5, label_of(matrix, values.low)});
    return bar;
  }
  for (const double at : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    const double value = values.low + at * (values.high - values.low);
    bar.labels.push_back({at, label_of(matrix, matrix.bandwidth_ratio ? std::exp2(value) : value)});
  }
  return bar;
}

void add_cells(Panel& map, const LabelledMatrix& matrix, const Values& values) {
  const double cell_width = map.area.width / static_cast<double>(matrix.columns.size());
  const double cell_height = map.area.height / static_cast<double>(matrix.rows.size());
  const bool labelled = values.widest_label + 6 <= cell_width && kValueFont.size + 3 <= cell_height;
  Boxes boxes{.border = Stroke{.color = kWhite, .width = 1}};
  std::vector<Text> texts;
  for (std::size_t row = 0; row < matrix.rows.size(); ++row) {
    for (std::size_t column = 0; column < matrix.columns.size(); ++column) {
      const double value = matrix.values[row][column];
      const bool known = std::isfinite(scaled(matrix, value));
      const Color fill = known ? color_of(matrix, values, value) : kUnknown;
      const auto x = static_cast<double>(column);
      const auto y = static_cast<double>(row);
      boxes.boxes.push_back({x, x + 1, y, y + 1, fill});
      if (labelled && known) {
        texts.push_back(
            centred({x + 0.5, y + 0.5}, text_of(matrix, row, column), kValueFont, readable_on(fill)));
      }
    }
  }
  map.elements.emplace_back(std::move(boxes));
  map.elements.insert(map.elements.end(), texts.begin(), texts.end());
}

}  // namespace

std::vector<Figure> heat_map(const LabelledMatrix& matrix, const ChartContext& context) {
  RINGSIDE_CHECK(matrix.values.size() == matrix.rows.size(), "a matrix has a value row per row label");
  const Values values = values_of(matrix);
  if (values.none()) {
    return {};
  }
  std::optional<ColorBar> bar;
  if (matrix.categories.empty()) {
    bar = bar_of(matrix, values);
  }
  const auto num_rows = static_cast<double>(matrix.rows.size());
  const auto num_columns = static_cast<double>(matrix.columns.size());
  const double cell_height =
      std::clamp(kUsualHeight / num_rows, std::min(kMinCellHeight, kMaxHeight / num_rows), kMaxCellHeight);
  constexpr double kAround = 230;  // Title, legend, axis and footer.
  Figure figure{.name = matrix.name,
                .width = width_for(context.size, 1200),
                .height = static_cast<int>(std::max(460.0, cell_height * num_rows + kAround))};
  const Rect area = lay_out_page(figure, page_text(context, matrix.subtitle), legend_of(matrix, values));

  const std::vector<std::string> row_labels =
      mapped(matrix.rows, [](const std::string& text) { return shortened(text, {}, kMaxRowLabel); });
  Panel map{.area = {}, .grid = false};
  map.y = {
      .label = matrix.row_title, .min = num_rows, .max = 0, .tics = cell_tics(row_labels, cell_height, 18)};
  const double beside_room = bar ? color_bar_width(*bar) : PanelMargins{}.right;
  map.area =
      lay_out_panels(area, 1, 1, {.left = y_axis_room(map.y) + 12, .right = beside_room, .top = 36}).areas[0];
  map.area.height = std::min(map.area.height, cell_height * num_rows);
  map.x = {.label = matrix.column_title,
           .min = 0,
           .max = num_columns,
           .tics = cell_tics(matrix.columns, map.area.width / num_columns, widest(matrix.columns) + 12)};
  add_cells(map, matrix, values);
  figure.panels.push_back(std::move(map));
  if (bar) {
    figure.panels.push_back(color_bar_panel(*bar, figure.panels.back().area));
  }
  return {figure};
}

}  // namespace ringside::plots
