#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plots/charts/charts.hpp"
#include "tests/plots/variants.hpp"

/// Maps, and lines over a key, over everything that changes how they are laid out.
namespace ringside::plots::variants {

inline void add_lines_over_keys(Variants& all) {
  all.begin("lines over keys");
  for (const int count : {1, 2, 3, 8, 9, 16, 17}) {
    KeyLines lines{.key = "inter nics", .labels = {}, .values = {}, .lines = {{"naive", {}}, {"ring", {}}}};
    for (int value = 1; value <= count; ++value) {
      lines.values.push_back(value);
      lines.labels.push_back(std::to_string(value));
      lines.lines[0].seconds.emplace_back(1e-3 / value);
      lines.lines[1].seconds.emplace_back(2e-3 / value / value);
    }
    for (const ChartSize size : kSizes) {
      all.push_back({fmt::format("{} values of a key, {}", count, size_name(size)),
                     lines_over_key(lines, "1 MiB", sized(size))});
    }
    for (const std::optional<double> odd :
         {std::optional<double>(), std::optional(0.0), std::optional(1.0)}) {
      for (const std::size_t line : {0U, 1U}) {
        KeyLines changed = lines;
        changed.lines[line].seconds[0] = odd;
        all.push_back({fmt::format("{} values, the first of line {} is {}", count, line, odd.value_or(-1)),
                       lines_over_key(changed, "1 MiB", kContext)});
      }
    }
    std::swap(lines.values.front(), lines.values.back());
    all.push_back({fmt::format("{} values, not sorted", count), lines_over_key(lines, "", kContext)});
    lines.lines.clear();
    all.push_back({fmt::format("{} values of nothing", count), lines_over_key(lines, "", kContext)});
  }
}

/// `value(row, column)` everywhere.
inline SpeedupGrid grid_of(const std::vector<int>& ranks, const std::vector<std::int64_t>& sizes,
                           const std::function<double(std::size_t, std::size_t)>& value) {
  SpeedupGrid grid{.baseline = "naive", .candidate = "ring", .ranks = ranks, .sizes = {}, .speedup = {}};
  for (const std::int64_t size : sizes) {
    grid.sizes.push_back({size});
  }
  for (std::size_t row = 0; row < ranks.size(); ++row) {
    grid.speedup.emplace_back();
    for (std::size_t column = 0; column < sizes.size(); ++column) {
      grid.speedup.back().push_back(value(row, column));
    }
  }
  return grid;
}

inline void add_speedup_maps(Variants& all) {
  all.begin("speedup maps");
  const std::vector<std::vector<int>> ranks = {{4}, {2, 4}, {2, 3, 8, 64}, {2, 3, 4, 5, 6, 7, 8, 9, 10}};
  const std::vector<std::vector<std::int64_t>> sizes = {
      {0}, {1}, {1024}, {1000, 4000}, {1024, 2048, 1 << 20}};
  for (const auto& some_ranks : ranks) {
    for (const auto& some_sizes : sizes) {
      for (const double most : {0.5, 1.0, 1.9, 2.0, 2.1, 8.0, 16.0, 16.1, 1000.0}) {
        const SpeedupGrid grid = grid_of(some_ranks, some_sizes, [&](std::size_t row, std::size_t column) {
          return (row + column) % 3 == 1 ? 1 / most : most / static_cast<double>(1 + column);
        });
        all.push_back({fmt::format("a map of {} × {}, {} times", some_ranks.size(), some_sizes.size(), most),
                       speedup_map(grid, kContext)});
      }
    }
  }
  for (const double odd : {0.0, -1.0, kNaN, kInfinity, 0.94, 0.95, 0.96, 1.0, 1.04, 1.05, 1.06, 3.0, 40.0}) {
    for (const ChartSize size : kSizes) {
      for (const std::size_t columns : {2U, 12U, 30U}) {
        std::vector<std::int64_t> some;
        for (std::size_t i = 0; i < columns; ++i) {
          some.push_back(1LL << (10 + i));
        }
        SpeedupGrid grid = grid_of({2, 4, 8}, some, [](std::size_t row, std::size_t column) {
          return 0.4 * static_cast<double>(1 + row * column);
        });
        grid.measured = {{2, {1024}, odd}, {8, {2048}, 2}, {16, {2048}, 2}, {2, {1}, 2}};
        const std::string name = fmt::format("{} measured of {}, {}", odd, columns, size_name(size));
        all.push_back({"a map with " + name, speedup_map(grid, sized(size))});
        grid.measured.clear();
        grid.speedup[1][1] = odd;
        all.push_back({"a map with a cell, un" + name, speedup_map(grid, sized(size))});
      }
    }
  }
}

inline LabelledMatrix matrix_of(std::size_t rows, std::size_t columns,
                                const std::function<double(std::size_t, std::size_t)>& value) {
  LabelledMatrix matrix{.subtitle = "what it shows",
                        .row_title = "source",
                        .column_title = "target",
                        .rows = {},
                        .columns = {},
                        .values = {},
                        .value_title = "GB/s"};
  for (std::size_t row = 0; row < rows; ++row) {
    matrix.rows.push_back(fmt::format("row {}", row));
    matrix.values.emplace_back();
    for (std::size_t column = 0; column < columns; ++column) {
      matrix.values.back().push_back(value(row, column));
    }
  }
  for (std::size_t column = 0; column < columns; ++column) {
    matrix.columns.push_back(fmt::format("column {}", column));
  }
  return matrix;
}

inline void add_heat_maps(Variants& all) {
  all.begin("heat maps");
  for (const std::size_t rows : {1U, 2U, 5U, 6U, 36U, 37U, 141U, 142U, 200U}) {
    for (const std::size_t columns : {1U, 2U, 7U, 9U, 40U}) {
      for (const ChartSize size : kSizes) {
        if (rows * columns > 1500 || (size != ChartSize::screen && columns != 9)) {
          continue;
        }
        const LabelledMatrix matrix = matrix_of(rows, columns, [](std::size_t row, std::size_t column) {
          return row == column + 1 ? kNaN : static_cast<double>(1 + (7 * row + 3 * column) % 11);
        });
        all.push_back({fmt::format("a matrix of {} × {}, {}", rows, columns, size_name(size)),
                       heat_map(matrix, sized(size))});
      }
    }
  }
  for (const double low : {-3.0, 0.0, 0.25, 0.5, 0.74, 0.75, 0.76, 1.0, 4.0}) {
    for (const double high : {0.0, 1.0, 1.1, 1.19, 1.2, 2.0, 2.1, 4.0, 4.1}) {
      LabelledMatrix matrix = matrix_of(
          2, 2, [&](std::size_t row, std::size_t column) { return (row + column) % 2 == 0 ? low : high; });
      all.push_back({fmt::format("values {} and {}", low, high), heat_map(matrix, kContext)});
      matrix.bandwidth_ratio = true;
      all.push_back({fmt::format("ratios {} and {}", low, high), heat_map(matrix, kContext)});
    }
  }
  LabelledMatrix kinds = matrix_of(3, 3, [](std::size_t row, std::size_t column) {
    return row == 2 ? kNaN : static_cast<double>((row + column) % 3);
  });
  kinds.categories = {"naive", "tie", "ring"};
  all.push_back({"kinds", heat_map(kinds, kContext)});
  kinds.neutral = "tie";
  all.push_back({"kinds with a neutral one", heat_map(kinds, kContext)});
  kinds.rows[0] = std::string(80, 'm');
  kinds.texts.assign(3, {"a", "somewhat longer", std::string(60, 'x')});
  all.push_back({"kinds with texts", heat_map(kinds, kContext)});
  kinds.texts.assign(3, {"a", "b", "c"});
  all.push_back({"kinds with short texts", heat_map(kinds, kContext)});
  // A label that just fits, and the next that does not.
  for (int letters = 1; letters <= 60; ++letters) {
    LabelledMatrix matrix = matrix_of(2, 3, [](std::size_t, std::size_t) { return 5.0; });
    matrix.label = [letters](double) { return std::string(static_cast<std::size_t>(letters), 'i'); };
    all.push_back({fmt::format("labels of {} letters", letters), heat_map(matrix, kContext)});
  }
}

}  // namespace ringside::plots::variants
