#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/failures.hpp"
#include "common/mapped.hpp"
#include "import/parts.hpp"

namespace ringside {
namespace {

enum class Column { ignored, bytes, time, ranks, collective, algorithm, dtype, op };

struct ColumnName {
  Column column = Column::ignored;
  double seconds = 0;  ///< What one unit of a time is; 0 = the name says no unit.
};

/// `Time (us)` and `time_us` are both `time_us`.
std::string plain_name(std::string_view text) {
  std::string name;
  for (const char c : lower(text)) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      name += c;
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  while (!name.empty() && name.back() == '_') {
    name.pop_back();
  }
  return name;
}

ColumnName column_named(std::string_view text) {
  const std::string name = plain_name(text);
  constexpr auto kNames = std::to_array<std::pair<Column, std::string_view>>(
      {{Column::bytes, "bytes size size_b size_bytes message_size message_bytes nbytes"},
       {Column::ranks, "ranks nranks num_ranks gpus ngpus num_gpus np n world_size"},
       {Column::collective, "collective"},
       {Column::algorithm, "algorithm algo"},
       {Column::dtype, "dtype type datatype"},
       {Column::op, "op redop"}});
  for (const auto& [column, names] : kNames) {
    const std::vector<std::string_view> known = split(names, ' ');
    if (std::ranges::find(known, name) != known.end()) {
      return {column};
    }
  }
  if (is_one_of(name, {"seconds", "time_seconds"})) {
    return {Column::time, 1};
  }
  const std::size_t unit = name.rfind('_');
  const std::string what = name.substr(0, unit);
  if (is_one_of(what, {"time", "latency", "avg_latency", "duration", "avg", "mean", "median", "t"})) {
    constexpr auto kUnits = std::to_array<std::pair<std::string_view, double>>(
        {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}});
    for (const auto& [spelt, seconds] : kUnits) {
      if (unit != std::string::npos && name.substr(unit + 1) == spelt) {
        return {Column::time, seconds};
      }
    }
    return {Column::time, 0};
  }
  return {};
}

/// The fields of a line; quotes around a field are taken off.
std::vector<std::string_view> fields_of(std::string_view line, char separator) {
  std::vector<std::string_view> fields;
  bool quoted = false;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    if (i < line.size() && line[i] == '"') {
      quoted = !quoted;
    }
    if (i == line.size() || (line[i] == separator && !quoted)) {
      fields.push_back(trimmed(line.substr(start, i - start), " \t\r\""));
      start = i + 1;
    }
  }
  return fields;
}

/// The separator of a line of names, if it looks like one.
std::optional<char> separator_of(std::string_view line) {
  for (const char separator : {',', ';', '\t'}) {
    const auto fields = fields_of(line, separator);
    const bool sizes = std::ranges::any_of(
        fields, [](std::string_view field) { return column_named(field).column == Column::bytes; });
    if (fields.size() > 1 && sizes) {
      return separator;
    }
  }
  return std::nullopt;
}

bool is_data(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t\r");
  return first != std::string_view::npos && line[first] != '#';
}

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// The lines of a text that are neither empty nor comments, with their numbers.
struct Line {
  std::size_t number = 0;
  std::string_view text;
};

std::vector<Line> lines_of(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) {
    text.remove_prefix(kByteOrderMark.size());
  }
  std::vector<Line> lines;
  each_line_of(text, [&](std::size_t number, std::string_view line) {
    if (is_data(line)) {
      lines.push_back({number, line});
    }
  });
  return lines;
}

/// A cell that is no value of its column.
[[noreturn]] void reject_cell(std::string_view what, std::string_view cell) {
  throw bad_input("'{}' is no {}", cell.substr(0, 40), what);
}

template <typename E>
E named(std::string_view what, std::string_view cell) {
  const auto value = parse_name<E>(cell);
  if (!value) {
    reject_cell(what, cell);
  }
  return *value;
}

void read_cell(const ColumnName& column, std::string_view cell, ImportedRow& row) {
  switch (column.column) {
    case Column::ignored:
      return;
    case Column::bytes: {
      const auto whole = whole_in_word(cell);
      row.bytes = whole && cell.find_first_not_of("0123456789") == std::string_view::npos
                      ? *whole
                      : parse_bytes(cell).value;
      return;
    }
    case Column::time: {
      const auto number = number_in_word(cell);
      if (!number || !(*number > 0)) {
        reject_cell("time above 0", cell);
      }
      row.measurement.seconds = {*number * column.seconds};
      return;
    }
    case Column::ranks: {
      row.ranks = ranks_in_word(cell);
      if (row.ranks.value_or(0) < 1) {
        reject_cell("number of ranks", cell);
      }
      return;
    }
    case Column::collective:
      row.collective = named<Collective>("collective", cell);
      return;
    case Column::algorithm:
      row.algorithm = std::string(cell);
      return;
    case Column::dtype:
      row.dtype = nccl_dtype(cell) ? nccl_dtype(cell) : named<DataType>("type of ringside's", cell);
      return;
    case Column::op:
      row.op = named<ReduceOp>("operation", cell);
      return;
  }
}

}  // namespace

bool is_csv(std::string_view start) {
  const auto lines = lines_of(start);
  return !lines.empty() && separator_of(lines.front().text);
}

ImportedTable read_csv(std::string_view text, std::string_view name, const ImportDefaults& defaults,
                       Import& import) {
  const auto lines = lines_of(text);
  const char separator = lines.empty() ? ',' : separator_of(lines.front().text).value_or(',');
  const auto names =
      lines.empty() ? std::vector<std::string_view>{} : fields_of(lines.front().text, separator);
  const std::vector<ColumnName> columns = mapped(names, column_named);
  const auto times =
      std::ranges::count_if(columns, [](const ColumnName& column) { return column.column == Column::time; });
  const bool unit_missing = std::ranges::any_of(
      columns, [](const ColumnName& column) { return column.column == Column::time && column.seconds == 0; });
  if (times != 1 || unit_missing) {
    throw bad_input("{}:{}: {}; write one column of times with its unit, such as bytes,time_us. Found: {}",
                    name, lines.empty() ? 1 : lines.front().number,
                    times > 1      ? "several columns are times"
                    : unit_missing ? "the column of times says no unit"
                                   : "no column is a time",
                    fmt::join(names, ", "));
  }
  const auto system = defaults.system ? std::ranges::find(names, "system") : names.end();
  const auto system_column = static_cast<std::size_t>(system - names.begin());
  SkippedRows skipped;
  ImportedTable table;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const auto cells = fields_of(lines[i].text, separator);
    if (system_column < cells.size() && cells[system_column] != *defaults.system) {
      continue;
    }
    if (cells.size() != columns.size()) {
      skipped.add(lines[i].number, fmt::format("it has not {} columns", columns.size()));
      continue;
    }
    ImportedRow row{.line = lines[i].number, .collective = Collective::all_reduce};
    row.measurement.backend = Backend::nccl;
    try {
      for (std::size_t c = 0; c < cells.size(); ++c) {
        read_cell(columns[c], cells[c], row);
      }
    } catch (const Error& error) {
      skipped.add(lines[i].number, error.what());
      continue;
    }
    if (row.bytes == 0) {
      skipped.add(lines[i].number, "a message of 0 bytes");
      continue;
    }
    table.push_back(std::move(row));
  }
  import.format = "CSV";
  import.notes = skipped.sentences();
  return table;
}

}  // namespace ringside
