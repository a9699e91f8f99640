// Which collective a table of nccl-tests is of, and on how many ranks.

#include <algorithm>
#include <ranges>
#include <utility>

#include <fmt/format.h>

#include "import/nccl_tests.hpp"

namespace ringside {
namespace {

/// all_gather, reduce_scatter and alltoall count one rank's part (AllGatherGetCollByteCount in
/// src/all_gather.cu of NVIDIA/nccl-tests). 1 = the whole buffer's; 0 = rows differ.
template <typename Rows>
int parts_of(const Rows& rows) {
  std::int64_t parts = 0;
  for (const auto& row : rows) {
    const std::int64_t part = row.count * static_cast<std::int64_t>(size_of(*row.dtype));
    if (part <= 0 || row.bytes % part != 0) {
      return 0;
    }
    const std::int64_t of_row = row.bytes / part;
    if ((parts != 0 && of_row != parts) || of_row > 10'000'000) {
      return 0;
    }
    parts = of_row;
  }
  return static_cast<int>(parts);
}

/// Bandwidths of the half that is taken, or of both.
std::vector<Bandwidths> bandwidths_of(const auto& rows, std::size_t halves = 1) {
  std::vector<Bandwidths> result;
  result.reserve(halves * rows.size());
  for (const auto& row : rows) {
    const auto end = static_cast<std::ptrdiff_t>(std::min<std::size_t>(halves, row.halves));
    result.insert(result.end(), row.bandwidths.begin(), row.bandwidths.begin() + end);
  }
  return result;
}

bool busbw_is_below(const std::vector<Bandwidths>& rows) {
  return std::ranges::any_of(rows,
                             [](const Bandwidths& b) { return b.algbw >= 1 && b.busbw < 0.995 * b.algbw; });
}

bool has_ring_bandwidth(std::optional<Collective> collective) {
  return collective && row_of(*collective).bus_factor > 0 && !has_root(*collective);
}

}  // namespace

template <typename RowsOfTable>
std::optional<Collective> NcclTestsReader::collective_of(const Table& table, const RowsOfTable& rows,
                                                         int parts, std::string& why_not) const {
  // What the program was called counts; else what its columns say.
  if (table.collective) {
    const auto collective = collective_of_program(*table.collective);
    why_not = fmt::format("the collective of {} is none of ringside's", *table.collective);
    return collective;
  }
  const Row& row = rows.front();
  if (row.has_root) {
    return row.has_redop ? Collective::reduce : Collective::broadcast;
  }
  if (row.has_redop) {
    return parts > 1 || busbw_is_below(bandwidths_of(rows)) ? Collective::reduce_scatter
                                                            : Collective::all_reduce;
  }
  if (collective_) {
    return collective_;
  }
  // Old versions gave columns to those that have an operation or a root; all_gather is the one that has
  // neither. alltoall_perf named a column of operations then and left it empty.
  if (!row.has_columns && parts > 1) {
    return table.names_redop_alone ? Collective::all_to_all : Collective::all_gather;
  }
  why_not = parts > 1 ? std::string(
                            "no program or operation names the collective: all_gather_perf and "
                            "alltoall_perf print these columns; give --collective all_gather or all_to_all")
                      : std::string("no program or operation names the collective");
  return std::nullopt;
}

TableRows NcclTestsReader::finished(const Table& table, const std::shared_ptr<const Rows>& all,
                                    std::size_t end) {
  const auto start = all->begin() + static_cast<std::ptrdiff_t>(table.first);
  const std::ranges::subrange rows(start, start + static_cast<std::ptrdiff_t>(end - table.first));
  const int parts = parts_of(rows);
  std::string why_not;
  auto collective = collective_of(table, rows, parts, why_not);
  const auto bandwidths = bandwidths_of(rows);
  const auto ranks = table.ranks_listed > 0 ? std::optional(table.ranks_listed) : std::nullopt;
  const bool scales = has_ring_bandwidth(collective);
  auto by_bandwidth = scales ? ranks_of_bandwidths(*collective, bandwidths) : std::optional<int>{};
  if (scales && !by_bandwidth) {
    by_bandwidth = ranks_of_bandwidths(*collective, bandwidths_of(rows, 2));
  }
  if (parts > 1 && scales && collective != Collective::all_reduce) {
    by_bandwidth = parts;
  }
  // What sendrecv_perf prints where its name is not shown: an operation, no root, and one bandwidth.
  bool as_sendrecv =
      !table.collective && collective == Collective::all_reduce && by_bandwidth == 2 && ranks.value_or(0) > 2;
  if (as_sendrecv && collective_ == Collective::send_recv) {
    as_sendrecv = false;
    collective = collective_;
    by_bandwidth.reset();
  }
  if (as_sendrecv) {
    why_not = fmt::format(
        "algbw and busbw are the same although {} ranks are listed, as sendrecv_perf prints; give "
        "--collective "
        "send_recv if it is that, or put the name of the program in front",
        *ranks);
  }
  if (!collective || as_sendrecv) {
    for (const Row& row : rows) {
      skipped_.add(row.line, why_not);
    }
    return {};
  }
  if (ranks && by_bandwidth && *ranks != *by_bandwidth) {
    notes_.push_back(
        fmt::format("the table of line {} lists {} ranks, but its bandwidths are those of {}; {} was taken",
                    table.line, *ranks, *by_bandwidth, *by_bandwidth));
  }
  const auto below = std::ranges::find_if(rows, [](const Row& row) {
    return std::any_of(row.bandwidths.begin(), row.bandwidths.begin() + row.halves,
                       [](const Bandwidths& b) { return b.algbw >= 10 && b.busbw < 0.999 * b.algbw; });
  });
  if (collective == Collective::all_reduce && below != rows.end()) {
    notes_.push_back(
        fmt::format("line {}: its busbw is below its algbw, which all_reduce_perf prints on no number of "
                    "ranks; was the table edited?",
                    below->line));
  }
  const auto row_at = [all, start, collective, ranks = by_bandwidth ? by_bandwidth : ranks,
                       iterations = table.iterations](std::size_t index) {
    const Row& row = start[static_cast<std::ptrdiff_t>(index)];
    ImportedRow result{.line = row.line,
                       .collective = collective,
                       .ranks = ranks,
                       .dtype = row.dtype,
                       .op = row.op,
                       .bytes = row.bytes};
    result.measurement.backend = Backend::nccl;
    if (row.wrong > 0) {
      result.measurement.outcome = Outcome::wrong_result;
      result.measurement.note = fmt::format("{} elements were wrong", row.wrong);
    } else {
      result.measurement.seconds = {row.microseconds * 1e-6};
      result.measurement.iterations = iterations;
    }
    return result;
  };
  return {.size = rows.size(), .row = row_at};
}

std::vector<TableRows> NcclTestsReader::finish(Import& import) {
  drop_split();
  const auto all = std::make_shared<const Rows>(std::move(rows_));
  std::vector<TableRows> tables;
  for (std::size_t i = 0; i < printed_.size(); ++i) {
    const std::size_t end = i + 1 < printed_.size() ? printed_[i + 1].first : all->size();
    tables.push_back(finished(printed_[i], all, end));
  }
  std::erase_if(tables, [](const TableRows& table) { return table.size == 0; });
  import.gpu = gpu_;
  import.nccl = nccl_;
  if (elided_ && !tables.empty()) {
    notes_.push_back(fmt::format("line {}: rows were left out here; they stay absent", *elided_));
  }
  LogReader::finish(import);
  return tables;
}

}  // namespace ringside
