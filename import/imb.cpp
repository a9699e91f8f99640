// Intel MPI Benchmarks, IMB-MPI1 (intel/mpi-benchmarks): one block per benchmark and number of processes,
//
//   # Benchmarking Allreduce
//   # #processes = 4
//   # ( 4 additional processes waiting in MPI_Barrier)
//          #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
//            1024         1000         2.40         2.61         2.50
//
// with another `Mbytes/sec` behind the times, or alone, where nothing was timed.

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "import/parts.hpp"

namespace ringside {
namespace {

struct ImbName {
  std::string_view spelt;
  Collective collective;
  bool bytes_of_one_rank;  ///< Whether `#bytes` is what each rank gives.
  bool reduces;
};
constexpr auto kImbNames =
    std::to_array<ImbName>({{"Allreduce", Collective::all_reduce, false, true},
                            {"Reduce_scatter", Collective::reduce_scatter, false, true},
                            {"Allgather", Collective::all_gather, true, false},
                            {"Bcast", Collective::broadcast, false, false},
                            {"Reduce", Collective::reduce, false, true},
                            {"Gather", Collective::gather, true, false},
                            {"Alltoall", Collective::all_to_all, true, false}});

std::optional<DataType> mpi_type(std::string_view word) {
  if (word == "MPI_FLOAT") {
    return DataType::float32;
  }
  return word == "MPI_DOUBLE" ? std::optional(DataType::float64) : std::nullopt;
}

class ImbReader final : public LogReader {
 public:
  void read(std::size_t line_number, std::string_view line, bool is_whole) override;
  std::vector<ImportedTable> finish(Import& import) override;
  bool found() const override { return found_; }
  std::string_view format() const override { return "Intel MPI Benchmarks"; }

 private:
  void start_block(std::size_t line_number, std::string_view benchmark);
  void read_row(std::size_t line_number, const std::vector<std::string_view>& words, bool is_whole);

  bool found_ = false;
  std::optional<ImbName> name_;
  std::optional<int> ranks_;
  std::optional<DataType> dtype_;
  std::optional<std::size_t> average_;  ///< Column of `t_avg`; there is none outside of a table.
  std::size_t columns_ = 0;
  std::size_t prefix_ = 0;  ///< Words that a launcher put in front of each line.
  std::vector<ImportedTable> tables_;
  SkippedRows skipped_;
};

void ImbReader::start_block(std::size_t line_number, std::string_view benchmark) {
  found_ = true;
  ranks_.reset();
  average_.reset();
  const auto* const found = std::find_if(kImbNames.begin(), kImbNames.end(),
                                         [&](const ImbName& name) { return name.spelt == benchmark; });
  name_ = found == kImbNames.end() ? std::nullopt : std::optional(*found);
  if (!name_) {
    skipped_.add(line_number,
                 fmt::format("the benchmark {} is of no collective of ringside's", benchmark.substr(0, 40)));
  }
}

void ImbReader::read_row(std::size_t line_number, const std::vector<std::string_view>& words, bool is_whole) {
  const auto bytes = whole_in_word(words[0]);
  if (!bytes) {
    average_.reset();  // The table is over.
    return;
  }
  const auto time = words.size() > *average_ ? number_in_word(words[*average_]) : std::nullopt;
  const double microseconds = time.value_or(0);
  if (words.size() < columns_ || (!is_whole && words.size() == columns_) || !time) {
    skipped_.add(line_number, "the row is cut");
  } else if (*bytes == 0) {
    skipped_.add(line_number, "a message of 0 bytes");
  } else if (!(microseconds > 0)) {
    skipped_.add(line_number, "it has no time");
  } else {
    ImportedRow row{.line = line_number,
                    .collective = name_->collective,
                    .ranks = ranks_,
                    .dtype = name_->reduces ? dtype_ : std::nullopt,
                    .bytes = *bytes,
                    .bytes_of_one_rank = name_->bytes_of_one_rank,
                    .measurement = {.seconds = {microseconds * 1e-6}, .backend = Backend::mpi}};
    row.measurement.iterations =
        static_cast<int>(std::min<std::int64_t>(whole_in_word(words[1]).value_or(0), 1'000'000'000));
    tables_.back().rows.push_back(std::move(row));
  }
}

void ImbReader::read(std::size_t line_number, std::string_view line, bool is_whole) {
  if (const auto benchmark = after(line, "# Benchmarking")) {
    start_block(line_number, first_word(*benchmark));
  } else if (!found_) {
    if (line.find("Intel(R) MPI Benchmarks") != std::string_view::npos) {
      found_ = true;
    }
  } else if (const auto processes = after(line, "#processes =")) {
    const auto number = whole_in_word(first_word(*processes));
    ranks_ = number && *number <= 100'000'000 ? std::optional(static_cast<int>(*number)) : std::nullopt;
  } else if (const auto reductions = after(line, "MPI_Datatype for reductions")) {
    dtype_ =
        mpi_type(first_word(reductions->substr(std::min(reductions->find(':'), reductions->size() - 1) + 1)));
  } else if (line.find("#bytes") != std::string_view::npos) {
    const auto words = words_of(line);
    const auto average = std::find(words.begin(), words.end(), "t_avg[usec]");
    average_.reset();
    if (name_ && average != words.end()) {
      const auto first = std::find(words.begin(), words.end(), "#bytes");
      prefix_ = first == words.end() ? 0 : static_cast<std::size_t>(first - words.begin());
      average_ = static_cast<std::size_t>(average - words.begin()) - prefix_;
      columns_ = words.size() - prefix_;
      tables_.push_back({.line = line_number});
    }
  } else if (average_) {
    auto words = words_of(line);
    words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(std::min(prefix_, words.size())));
    if (!words.empty()) {
      read_row(line_number, words, is_whole);
    }
  }
}

std::vector<ImportedTable> ImbReader::finish(Import& import) {
  const auto skipped = skipped_.sentences();
  import.notes.insert(import.notes.end(), skipped.begin(), skipped.end());
  std::erase_if(tables_, [](const ImportedTable& table) { return table.rows.empty(); });
  return std::move(tables_);
}

}  // namespace

std::unique_ptr<LogReader> imb_reader() { return std::make_unique<ImbReader>(); }

}  // namespace ringside
