// Tables whose title names size, time and bus bandwidth, each with its unit: nccom-test of AWS Neuron,
// NVSHMEM's perftest, and whatever else is printed alike.
//
//   size(B)    count(elems)    type    time:avg(us)    algbw(GB/s)    busbw(GB/s)
//   1048576    262144          fp32    58.15           18.03          33.81

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "import/nccl_tests.hpp"

namespace ringside {
namespace {

struct Columns {
  std::optional<std::size_t> size = {};
  std::optional<std::size_t> time = {};
  std::optional<std::size_t> algbw = {};
  std::optional<std::size_t> busbw = {};
  std::optional<std::size_t> type = {};
  double seconds = 0;  ///< In one unit of the time.
  std::size_t count = 0;
};

double seconds_of_unit(std::string_view unit) {
  return unit == "us" || unit == "usec" ? 1e-6
         : unit == "ms"                 ? 1e-3
         : unit == "ns"                 ? 1e-9
         : unit == "s"                  ? 1
                                        : 0;
}

/// The words of a title; a mark of a comment in front is none of them.
Columns columns_of(std::string_view line) {
  Columns columns;
  for (const std::string_view word : words_of(line)) {
    if (word == "#") {
      continue;
    }
    const std::size_t open = word.find_first_of("([");
    const std::string name =
        lower(std::string(word.substr(0, std::min({open, word.find(':'), word.size()}))));
    const std::string_view unit = open == std::string_view::npos
                                      ? ""
                                      : word.substr(open + 1, word.find_first_of(")]", open) - open - 1);
    const auto take = [&](std::optional<std::size_t>& column) { column = column ? column : columns.count; };
    if ((name == "size" || name == "bytes" || name == "#size") && (unit == "B" || unit == "bytes")) {
      take(columns.size);
    } else if ((name == "time" || name == "latency") && seconds_of_unit(unit) > 0 && !columns.time) {
      take(columns.time);
      columns.seconds = seconds_of_unit(unit);
    } else if (name == "algbw") {
      take(columns.algbw);
    } else if (name == "busbw" && unit == "GB/s") {
      take(columns.busbw);
    } else if (name == "type") {
      take(columns.type);
    }
    ++columns.count;
  }
  return columns;
}

std::optional<DataType> type_called(std::string_view word) {
  constexpr auto kShort = std::to_array<std::pair<std::string_view, DataType>>(
      {{"fp32", DataType::float32}, {"fp16", DataType::float16}, {"bf16", DataType::bfloat16}});
  for (const auto& [spelt, dtype] : kShort) {
    if (word == spelt) {
      return dtype;
    }
  }
  return nccl_dtype(word);
}

/// What nccom-test and NVSHMEM call the collectives, in a line in front of the table.
std::optional<Collective> collective_named_in(std::string_view line) {
  constexpr auto kNames =
      std::to_array<std::pair<std::string_view, Collective>>({{"reducescatter", Collective::reduce_scatter},
                                                              {"reduce_scatter", Collective::reduce_scatter},
                                                              {"redsct", Collective::reduce_scatter},
                                                              {"alltoall", Collective::all_to_all},
                                                              {"fcollect", Collective::all_gather},
                                                              {"allgather", Collective::all_gather},
                                                              {"all_gather", Collective::all_gather},
                                                              {"allg", Collective::all_gather},
                                                              {"allr", Collective::all_reduce},
                                                              {"all_reduce", Collective::all_reduce},
                                                              {"reduction_on", Collective::all_reduce},
                                                              {"sendrecv", Collective::send_recv},
                                                              {"broadcast", Collective::broadcast}});
  constexpr auto kStarts = std::to_array<std::string_view>({"red", "all", "fcol", "send", "broad"});
  if (std::ranges::none_of(kStarts, [&](std::string_view start) { return contains(line, start); })) {
    return std::nullopt;  // Nearly all lines.
  }
  for (const auto& [spelt, collective] : kNames) {
    const std::size_t at = line.find(spelt);
    if (at != std::string_view::npos &&
        (at == 0 || std::string_view(" #_\t").find(line[at - 1]) != std::string_view::npos)) {
      return collective;
    }
  }
  return std::nullopt;
}

class TitledTableReader final : public LogReader {
 public:
  explicit TitledTableReader(const ImportDefaults& defaults)
      : LogReader("a titled table"), collective_(defaults.collective) {}
  bool may_read(const LogLine& /*line*/) const override { return true; }
  void read(const LogLine& line) override {
    if (!line.is_like_row && is_table_title(line.text)) {
      found_ = true;
      columns_ = columns_of(line.text);
      tables_.emplace_back();
      return;
    }
    const Words& words = line.words;
    if (columns_ && words.size() == columns_->count && whole_in_word(words[*columns_->size])) {
      read_row(line.number, words);
    } else if (const auto named = collective_named_in(line.text)) {
      named_ = named;
    }
  }

  std::vector<TableRows> finish(Import& import) override {
    for (ImportedTable& table : tables_) {
      // Only all_reduce has a bus bandwidth above its algorithm bandwidth.
      const bool above = std::ranges::any_of(table, [](const ImportedRow& row) {
        return row.bandwidths.algbw >= 1 && row.bandwidths.busbw > 1.01 * row.bandwidths.algbw;
      });
      for (ImportedRow& row : table) {
        row.collective = row.collective ? row.collective : collective_;
        if (!row.collective && above) {
          row.collective = Collective::all_reduce;
        } else if (!row.collective) {
          skipped_.add(row.line, "its collective is not stated; give --collective");
        }
      }
      std::erase_if(table, [](const ImportedRow& row) { return !row.collective; });
      if (!table.empty() && row_of(*table.front().collective).bus_factor > 0) {
        add_ranks_of_bandwidths(*table.front().collective, table);
      }
    }
    return LogReader::finish(import);
  }

 private:
  void read_row(std::size_t line_number, const Words& words) {
    const auto bytes = whole_in_word(words[*columns_->size]);
    const auto time = number_in_word(words[*columns_->time]);
    const auto busbw = number_in_word(words[*columns_->busbw]);
    const auto dtype = columns_->type ? type_called(words[*columns_->type]) : std::nullopt;
    if (!bytes || !time || !busbw) {
      return;
    }
    if (*bytes == 0 || !(*time > 0)) {
      skipped_.add(line_number, *bytes == 0 ? "a message of 0 bytes" : "it has no time");
    } else if (columns_->type && !dtype) {
      skipped_.add(line_number,
                   fmt::format("elements of type {} are none of ringside's", words[*columns_->type]));
    } else {
      const double algbw = static_cast<double>(*bytes) / (*time * columns_->seconds) * 1e-9;
      tables_.back().push_back(
          {.line = line_number,
           .collective = named_,
           .dtype = dtype,
           .bytes = *bytes,
           .measurement = {.seconds = {*time * columns_->seconds}, .backend = Backend::nccl},
           .bandwidths = {
               .algbw = columns_->algbw ? number_in_word(words[*columns_->algbw]).value_or(algbw) : algbw,
               .busbw = *busbw}});
    }
  }

  std::optional<Collective> collective_;
  std::optional<Collective> named_;
  std::optional<Columns> columns_;
};

}  // namespace

bool is_table_title(std::string_view line) {
  if (!contains(line, "busbw")) {
    return false;
  }
  const Columns columns = columns_of(line);
  return columns.size && columns.time && columns.busbw;
}

std::unique_ptr<LogReader> titled_table_reader(const ImportDefaults& defaults) {
  return std::make_unique<TitledTableReader>(defaults);
}

}  // namespace ringside
