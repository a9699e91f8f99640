#pragma once

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "common/error.hpp"
#include "common/names.hpp"
#include "common/numbers.hpp"
#include "scenario/yaml/csv.hpp"

namespace ringside {

/// Throws Error{bad_input} where there is no such file, or no row in it.
inline CsvTable read_table(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    throw Error(ErrorKind::bad_input, fmt::format("{}: there is no such file", file.string()));
  }
  CsvTable table = parse_csv(std::string{std::istreambuf_iterator<char>(stream), {}}, file.string());
  if (table.rows.empty()) {
    throw Error(ErrorKind::bad_input, fmt::format("{}: has no rows", file.string()));
  }
  return table;
}

/// Whether the first line of a table begins so.
inline bool has_header(const std::filesystem::path& table, std::string_view beginning) {
  std::ifstream stream(table);
  std::string header;
  std::getline(stream, header);
  return header.starts_with(beginning);
}

/// A row of a published table by column names. Throws Error{bad_input} that names file, line and column.
class Cells {
 public:
  Cells(const CsvTable& table, const CsvRow& row, const std::string& file)
      : table_(table), row_(row), file_(file) {}

  const std::string& text(std::string_view name) const {
    const auto column = table_.column(name);
    if (!column) {
      throw Error(ErrorKind::bad_input, fmt::format("{}:1: has no column {}", file_, name));
    }
    return row_.cells[*column];
  }

  double number(std::string_view name) const {
    const std::string& cell = text(name);
    const std::optional<double> value = parse_number<double>(cell);
    if (!value || !(*value > 0)) {
      throw Error(ErrorKind::bad_input, fmt::format("{}:{}: {}: '{}' is not a number of more than zero",
                                                    file_, row_.line, name, cell));
    }
    return *value;
  }

  int whole(std::string_view name) const {
    const double value = number(name);
    constexpr double kMost = 1e8;
    if (value != std::floor(value) || value > kMost) {
      throw Error(ErrorKind::bad_input, fmt::format("{}:{}: {}: '{}' is not a whole number from 1 to {:g}",
                                                    file_, row_.line, name, text(name), kMost));
    }
    return static_cast<int>(value);
  }

  bool yes(std::string_view name) const {
    if (text(name) != "yes" && text(name) != "no") {
      reject(name);
    }
    return text(name) == "yes";
  }

  /// A value by its name.
  template <typename E>
  E named(std::string_view column) const {
    const std::optional<E> value = parse_name<E>(text(column));
    if (!value) {
      reject(column);
    }
    return *value;
  }

  [[noreturn]] void reject(std::string_view name) const {
    throw Error(ErrorKind::bad_input,
                fmt::format("{}:{}: {}: '{}' is none", file_, row_.line, name, text(name)));
  }

 private:
  const CsvTable& table_;
  const CsvRow& row_;
  const std::string& file_;
};

}  // namespace ringside
