// Rows of tables as points of series.

#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "common/failures.hpp"
#include "import/parts.hpp"

namespace ringside {
namespace {

/// Why a row is of no collective that there can be; empty when it is of one.
std::string impossible(const ImportedRow& row, const ImportDefaults& defaults) {
  if (!has_possible_times(row.measurement)) {
    return fmt::format("its time is not between {} and {:g} s", format(kShortestTime), kLongestTime.value);
  }
  const int ranks = row.ranks.value_or(defaults.ranks.value_or(1));
  if (ranks < 1) {
    return fmt::format("it has {} ranks", ranks);
  }
  const bool countable =
      !row.bytes_of_one_rank || row.bytes <= std::numeric_limits<std::int64_t>::max() / ranks;
  return countable ? std::string{} : "all ranks together have more bytes than can be counted";
}

PointKey key_of(ImportedRow& row, const ImportDefaults& defaults) {
  const int ranks = row.ranks ? *row.ranks : defaults.ranks.value_or(1);
  return {.collective = row.collective.value_or(Collective::all_reduce),
          .algorithm = std::move(row.algorithm),
          .ranks = ranks,
          .bytes = {row.bytes * (row.bytes_of_one_rank ? ranks : 1)},
          .dtype = row.dtype ? *row.dtype : defaults.dtype.value_or(DataType::float32),
          .op = row.op ? *row.op : defaults.op.value_or(ReduceOp::sum)};
}

/// A table may repeat itself: a row whose point was there n times before belongs to series n + 1.
struct SeriesRows {
  std::shared_ptr<const TableRows> table;
  std::vector<std::uint32_t> rows = {};

  Point point(std::size_t index, const ImportDefaults& defaults) const {
    ImportedRow row = table->row(rows[index]);
    PointKey key = key_of(row, defaults);
    return {.key = std::move(key), .measured = std::move(row.measurement)};
  }
};

/// Where every row says something and none says what was given: the first row's.
template <typename T>
std::optional<T> said_instead(const std::vector<TableRows>& tables, std::optional<T> ImportedRow::*said,
                              const std::optional<T>& given) {
  std::optional<T> first;
  for (const TableRows& table : tables) {
    for (std::uint32_t i = 0; given && i < table.size; ++i) {
      const std::optional<T> own = table.row(i).*said;
      if (!own || *own == *given) {
        return std::nullopt;
      }
      first = first ? first : own;
    }
  }
  return first;
}

/// A sentence about each default that the tables have no use for.
std::vector<std::string> unused_defaults(const std::vector<TableRows>& tables,
                                         const ImportDefaults& defaults) {
  std::vector<std::string> notes;
  if (const auto ranks = said_instead(tables, &ImportedRow::ranks, defaults.ranks)) {
    notes.push_back(fmt::format("the file itself says {} ranks, so {} is not used", *ranks, *defaults.ranks));
  }
  const auto add = [&](const auto& own, const auto& given) {
    if (own) {
      notes.push_back(fmt::format("the file itself says {}, so {} is not used", name(*own), name(*given)));
    }
  };
  add(said_instead(tables, &ImportedRow::collective, defaults.collective), defaults.collective);
  add(said_instead(tables, &ImportedRow::dtype, defaults.dtype), defaults.dtype);
  add(said_instead(tables, &ImportedRow::op, defaults.op), defaults.op);
  return notes;
}

/// Without rows that nobody should have to reckon with.
void add_series_of(TableRows made, std::string_view name, const ImportDefaults& defaults,
                   std::vector<SeriesRows>& series, SkippedRows& skipped) {
  SeriesRows all{.table = std::make_shared<const TableRows>(std::move(made))};
  PointKey last;
  bool ascending = true;  // As benchmarks print sizes: no point is there twice.
  for (std::uint32_t i = 0; i < all.table->size; ++i) {
    ImportedRow row = all.table->row(i);
    if (const std::string why = impossible(row, defaults); !why.empty()) {
      skipped.add(row.line, why);
      continue;
    }
    if (!row.ranks && !defaults.ranks) {
      throw bad_input(
          "{}: line {}: nothing says on how many ranks this was measured; give --ranks N (import), "
          "one number under `ranks` (scenario), or a column `ranks` (CSV)",
          name, row.line);
    }
    PointKey key = key_of(row, defaults);
    ascending = ascending && (all.rows.empty() || last < key);
    last = std::move(key);
    all.rows.push_back(i);
  }
  if (ascending) {
    if (!all.rows.empty()) {
      series.push_back(std::move(all));
    }
    return;
  }
  const std::size_t first = series.size();
  std::map<PointKey, std::size_t> times;
  for (std::size_t i = 0; i < all.rows.size(); ++i) {
    const std::size_t at = first + times[all.point(i, defaults).key]++;
    if (at == series.size()) {
      series.push_back({.table = all.table});
    }
    series[at].rows.push_back(all.rows[i]);
  }
}

}  // namespace

void add_series(std::vector<TableRows> tables, std::string_view name, const ImportDefaults& defaults,
                ReadLog& log) {
  SkippedRows skipped;
  std::vector<SeriesRows> all;
  const std::vector<std::string> notes = unused_defaults(tables, defaults);
  log.import.notes.insert(log.import.notes.end(), notes.begin(), notes.end());
  for (TableRows& table : tables) {
    add_series_of(std::move(table), name, defaults, all, skipped);
  }
  const auto sentences = skipped.sentences();
  log.import.notes.insert(log.import.notes.end(), sentences.begin(), sentences.end());
  log.series = all.size();
  log.each_point = [all = std::move(all), defaults](const UsePoint& use) {
    for (std::size_t number = 0; number < all.size(); ++number) {
      const SeriesRows& series = all[number];
      const std::size_t line = series.table->row(series.rows.front()).line;
      for (std::size_t i = 0; i < series.rows.size(); ++i) {
        use(number, line, series.point(i, defaults));
      }
    }
  };
}

}  // namespace ringside
