// OSU micro-benchmarks, osu_allreduce and its siblings (mvapich.cse.ohio-state.edu/benchmarks):
//
//   # OSU MPI-CUDA Allreduce Latency Test v7.3
//   # Datatype: MPI_CHAR.
//   # Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
//   4                       5.12              4.98              5.30        1000

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "import/parts.hpp"

namespace ringside {
namespace {

struct OsuName {
  std::string_view spelt;  ///< A whole word of the title.
  Collective collective;
  bool bytes_of_one_rank;  ///< Whether the size is that of what each rank gives.
};
constexpr auto kOsuNames = std::to_array<OsuName>({{"Allreduce", Collective::all_reduce, false},
                                                   {"Reduce_scatter", Collective::reduce_scatter, false},
                                                   {"Allgather", Collective::all_gather, true},
                                                   {"Broadcast", Collective::broadcast, false},
                                                   {"Reduce", Collective::reduce, false},
                                                   {"Gather", Collective::gather, true},
                                                   {"All-to-All", Collective::all_to_all, true}});

std::optional<DataType> mpi_dtype(std::string_view line) {
  constexpr auto kTypes = std::to_array<std::pair<std::string_view, DataType>>(
      {{"MPI_FLOAT", DataType::float32}, {"MPI_DOUBLE", DataType::float64}, {"MPI_INT", DataType::int32}});
  for (const auto& [spelt, dtype] : kTypes) {
    if (line.find(spelt) != std::string_view::npos) {
      return dtype;
    }
  }
  return std::nullopt;
}

bool is_size_and_time(const std::vector<std::string_view>& words, std::size_t at) {
  return at + 1 < words.size() && whole_in_word(words[at]) && number_in_word(words[at + 1]);
}

/// Where the size stands: behind as many words as stand in front of the line of names (`# Size …`), which are a date, the number of a
/// rank, or none. What stands in front of another line may have more words or fewer; then the first two numbers count.
std::optional<std::size_t> size_in(const std::vector<std::string_view>& words, std::size_t prefix) {
  if (is_size_and_time(words, prefix)) {
    return prefix;
  }
  for (std::size_t at = 0; prefix > 0 && at < words.size(); ++at) {
    if (is_size_and_time(words, at)) {
      return at;
    }
  }
  return std::nullopt;
}

class OsuReader final : public LogReader {
 public:
  void read(std::size_t line_number, std::string_view line, bool is_whole) override;
  std::vector<ImportedTable> finish(Import& import) override;
  bool found() const override { return found_; }
  std::string_view format() const override { return "OSU"; }

 private:
  void read_title(std::size_t line_number, std::string_view title);
  void read_row(std::size_t line_number, const std::vector<std::string_view>& words, bool is_whole);

  bool in_table_ = false;
  bool found_ = false;
  std::size_t prefix_ = 0;  ///< Words in front of the table's lines.
  std::optional<OsuName> name_;
  std::optional<DataType> dtype_;
  std::vector<ImportedTable> tables_;
  SkippedRows skipped_;
  std::vector<std::string> notes_;
};

void OsuReader::read_title(std::size_t line_number, std::string_view title) {
  found_ = true;
  in_table_ = false;
  dtype_.reset();
  name_.reset();
  const auto words = words_of(title);
  for (const OsuName& name : kOsuNames) {
    if (std::find(words.begin(), words.end(), name.spelt) != words.end() &&
        std::find(words.begin(), words.end(), "Latency") != words.end()) {
      name_ = name;
    }
  }
  if (!name_) {
    const std::string_view shown = title.substr(0, title.find(" v"));
    notes_.push_back(fmt::format("line {}: this OSU test is of no collective of ringside's: OSU{}",
                                 line_number, shown.substr(0, 80)));
  }
}

void OsuReader::read(std::size_t line_number, std::string_view line, bool is_whole) {
  if (const auto title = after(line, "OSU MPI")) {
    read_title(line_number, line.substr(line.size() - title->size() - 4));
    return;
  }
  if (!found_) {
    return;
  }
  if (line.find("Datatype:") != std::string_view::npos) {
    dtype_ = mpi_dtype(line);
    return;
  }
  if (line.find("Size") != std::string_view::npos && line.find("Avg Latency(us)") != std::string_view::npos) {
    const auto words = words_of(line);
    in_table_ = true;
    prefix_ = static_cast<std::size_t>(std::find(words.begin(), words.end(), "#") - words.begin());
    prefix_ = prefix_ == words.size() ? 0 : prefix_;
    tables_.push_back({.line = line_number});
    return;
  }
  if (!in_table_) {
    return;
  }
  const auto words = words_of(line);
  if (words.empty() || words[0] == "#") {
    in_table_ = words.empty();
    return;
  }
  read_row(line_number, words, is_whole);
}

void OsuReader::read_row(std::size_t line_number, const std::vector<std::string_view>& words, bool is_whole) {
  const auto at = size_in(words, prefix_);
  if (!at) {
    // Lines of other programs may stand between; a row that was cut has its size.
    if (words.size() == prefix_ + 1 && whole_in_word(words.back())) {
      skipped_.add(line_number, "the row is cut");
    }
    return;
  }
  // OSU prints two decimals; a last line without its break may have lost digits.
  const std::string_view time = words[*at + 1];
  const bool is_last = *at + 2 == words.size() && !is_whole;
  if (is_last && time.size() - std::min(time.find('.'), time.size()) < 3) {
    skipped_.add(line_number, "the row is cut");
    return;
  }
  const double microseconds = *number_in_word(time);
  if (!(microseconds > 0)) {
    skipped_.add(line_number, "it has no time");
    return;
  }
  if (!name_) {
    return;
  }
  const std::int64_t bytes = *whole_in_word(words[*at]);
  if (bytes == 0) {
    skipped_.add(line_number, "a message of 0 bytes");
    return;
  }
  ImportedRow row{.line = line_number,
                  .collective = name_->collective,
                  .dtype = dtype_,
                  .bytes = bytes,
                  .bytes_of_one_rank = name_->bytes_of_one_rank,
                  .measurement = {.seconds = {microseconds * 1e-6}, .backend = Backend::mpi}};
  // `-f`: the least, the most and the number of iterations.
  if (const auto iterations = *at + 4 < words.size() ? whole_in_word(words[*at + 4]) : std::nullopt) {
    row.measurement.iterations = static_cast<int>(std::min<std::int64_t>(*iterations, 1'000'000'000));
  }
  if (words.back() == "Fail") {
    row.measurement = {
        .outcome = Outcome::wrong_result, .backend = Backend::mpi, .note = "OSU's validation failed"};
  }
  tables_.back().rows.push_back(std::move(row));
}

std::vector<ImportedTable> OsuReader::finish(Import& import) {
  import.notes.insert(import.notes.end(), notes_.begin(), notes_.end());
  const auto skipped = skipped_.sentences();
  import.notes.insert(import.notes.end(), skipped.begin(), skipped.end());
  return std::move(tables_);
}

}  // namespace

std::unique_ptr<LogReader> osu_reader() { return std::make_unique<OsuReader>(); }

}  // namespace ringside
