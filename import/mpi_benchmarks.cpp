// OSU micro-benchmarks, osu_allreduce and its siblings (mvapich.cse.ohio-state.edu/benchmarks):
//
//   # OSU MPI-CUDA Allreduce Latency Test v7.3
//   # Datatype: MPI_CHAR.
//   # Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
//   4                       5.12              4.98              5.30        1000
//
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

std::optional<DataType> mpi_dtype(std::string_view line) {
  constexpr auto kTypes = std::to_array<std::pair<std::string_view, DataType>>(
      {{"MPI_FLOAT", DataType::float32}, {"MPI_DOUBLE", DataType::float64}, {"MPI_INT", DataType::int32}});
  for (const auto& [spelt, dtype] : kTypes) {
    if (contains(line, spelt)) {
      return dtype;
    }
  }
  return std::nullopt;
}

/// How many words stand in front of one: a date, the number of a rank, or none.
std::size_t words_before(const Words& words, std::string_view word) {
  const auto found = std::ranges::find(words, word);
  return found == words.end() ? 0 : static_cast<std::size_t>(found - words.begin());
}

/// What both have.
class MpiReader : public LogReader {
 public:
  std::vector<TableRows> finish(Import& import) override {
    Transfers& all = import.transfers;
    all.bytes_per_second.insert(all.bytes_per_second.end(), transfers_.bytes_per_second.begin(),
                                transfers_.bytes_per_second.end());
    all.latency = all.latency ? all.latency : transfers_.latency;
    if (import.format.empty() && found_) {
      import.format = format();
    }
    return LogReader::finish(import);
  }

 protected:
  using LogReader::LogReader;

  /// A new block of transfers between two processes.
  void start_transfers() { best_of_block_ = 0; }
  void add_bandwidth(double bytes_per_second) {
    if (best_of_block_ == 0) {
      transfers_.bytes_per_second.push_back(0);
    }
    best_of_block_ = std::max(best_of_block_, bytes_per_second);
    transfers_.bytes_per_second.back() = best_of_block_;
  }
  void add_latency(double microseconds) {
    if (!transfers_.latency && microseconds > 0) {
      transfers_.latency = Seconds{microseconds * 1e-6};
    }
  }

  /// Whether the row was one. There is a table.
  bool add(std::size_t line_number, std::int64_t bytes, double microseconds, int iterations) {
    if (bytes == 0 || !(microseconds > 0)) {
      skipped_.add(line_number, bytes == 0 ? "a message of 0 bytes" : "it has no time");
      return false;
    }
    tables_.back().push_back(
        {.line = line_number,
         .collective = of_->collective,
         .ranks = ranks_,
         .dtype = dtype_,
         .bytes = bytes,
         .bytes_of_one_rank = of_->starts == Held::own_part,
         .measurement = {
             .seconds = {microseconds * 1e-6}, .iterations = iterations, .backend = Backend::mpi}});
    return true;
  }

  const CollectiveRow* of_ = nullptr;  ///< Null: a test of no collective of ringside's.
  std::optional<int> ranks_;
  std::optional<DataType> dtype_;
  std::size_t prefix_ = 0;  ///< Words in front of the table's lines, from a launcher.

 private:
  Transfers transfers_;
  double best_of_block_ = 0;
};

bool is_size_and_time(const Words& words, std::size_t at) {
  return at + 1 < words.size() && whole_in_word(words[at]) && number_in_word(words[at + 1]);
}

/// Where the size stands: behind as many words as stand in front of the line of names (`# Size …`). What
/// stands in front of another line may have more words or fewer; then the first two numbers count.
std::optional<std::size_t> size_in(const Words& words, std::size_t prefix) {
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

class OsuReader final : public MpiReader {
 public:
  OsuReader() : MpiReader("OSU") {}
  void read(const LogLine& line) override {
    const auto has = [&](std::string_view text) { return contains(line.text, text); };
    if (const auto title = after(line.text, "OSU MPI")) {
      read_title(line.number, line.text.substr(line.text.size() - title->size() - 4));
    } else if (!found_) {
      return;
    } else if (has("Datatype:")) {
      dtype_ = mpi_dtype(line.text);
    } else if (has("Size") && (has("Avg Latency(us)") || (!between_two_.empty() && has(between_two_)))) {
      in_table_ = true;
      prefix_ = words_before(line.words, "#");
      tables_.emplace_back();
    } else if (in_table_) {
      const Words& words = line.words;
      if (words.empty() || words[0] == "#") {
        in_table_ = words.empty();
      } else {
        read_row(line.number, words, line.is_whole);
      }
    }
  }

 private:
  void read_title(std::size_t line_number, std::string_view title) {
    found_ = true;
    in_table_ = false;
    dtype_.reset();
    of_ = nullptr;
    const auto words = words_of(title);
    const auto says = [&](std::string_view word) { return std::ranges::find(words, word) != words.end(); };
    for (const CollectiveRow& candidate : kCollectives) {
      if (!candidate.osu.empty() && says(candidate.osu) && says("Latency")) {
        of_ = &candidate;
      }
    }
    // `OSU MPI-CUDA Bandwidth Test v5.9`; one-sided, bidirectional and many-pair tests differ.
    const bool plain = words.size() > 2 && words[2] == "Test";
    between_two_ = plain && (words[1] == "Bandwidth" || words[1] == "Latency") ? words[1] : "";
    start_transfers();
    if (of_ == nullptr && between_two_.empty()) {
      notes_.push_back(fmt::format("line {}: this OSU test is of no collective of ringside's: OSU{}",
                                   line_number, title.substr(0, title.find(" v")).substr(0, 80)));
    }
  }

  void read_row(std::size_t line_number, const Words& words, bool is_whole) {
    const auto at = size_in(words, prefix_);
    if (!at) {
      // Lines of other programs may stand between; a row that was cut has its size.
      if (words.size() == prefix_ + 1 && whole_in_word(words.back())) {
        skipped_.add(line_number, "the row is cut");
      }
      return;
    }
    if (!between_two_.empty()) {
      const double value = *number_in_word(words[*at + 1]);
      between_two_ == "Latency" ? add_latency(value) : add_bandwidth(value * 1e6);
      return;
    }
    // OSU prints two decimals; a last line without its break may have lost digits.
    const std::string_view time = words[*at + 1];
    const bool is_last = *at + 2 == words.size() && !is_whole;
    if (is_last && time.size() - std::min(time.find('.'), time.size()) < 3) {
      skipped_.add(line_number, "the row is cut");
      return;
    }
    // `-f`: the least, the most and the number of iterations.
    const int iterations = *at + 4 < words.size() ? iterations_in_word(words[*at + 4]) : 0;
    if (of_ != nullptr && add(line_number, *whole_in_word(words[*at]), *number_in_word(time), iterations) &&
        words.back() == "Fail") {
      tables_.back().back().measurement = {
          .outcome = Outcome::wrong_result, .backend = Backend::mpi, .note = "OSU's validation failed"};
    }
  }

  bool in_table_ = false;
  /// `Bandwidth` or `Latency` of a test between two processes; empty: another test.
  std::string between_two_;
};

class ImbReader final : public MpiReader {
 public:
  ImbReader() : MpiReader("Intel MPI Benchmarks") {}
  void read(const LogLine& line) override {
    if (const auto benchmark = after(line.text, "# Benchmarking")) {
      start_block(line.number, first_word(*benchmark));
    } else if (!found_) {
      found_ = line.text.find("Intel(R) MPI Benchmarks") != std::string_view::npos;
    } else if (const auto processes = after(line.text, "#processes =")) {
      ranks_ = ranks_in_word(first_word(*processes));
    } else if (const auto reductions = after(line.text, "MPI_Datatype for reductions")) {
      dtype_of_reductions_ = mpi_dtype(*reductions);
    } else if (contains(line.text, "#bytes")) {
      start_table(line.words);
    } else if (average_) {
      auto words = line.words;
      words.erase(words.begin(),
                  words.begin() + static_cast<std::ptrdiff_t>(std::min(prefix_, words.size())));
      if (!words.empty()) {
        read_row(line.number, words, line.is_whole);
      }
    }
  }

 private:
  void start_block(std::size_t line_number, std::string_view benchmark) {
    found_ = true;
    ranks_.reset();
    average_.reset();
    const auto* const found = std::ranges::find_if(kCollectives, [&](const CollectiveRow& candidate) {
      return !candidate.imb.empty() && candidate.imb == benchmark;
    });
    of_ = found == kCollectives.end() ? nullptr : found;
    is_ping_pong_ = benchmark == "PingPong";
    start_transfers();
    if (of_ == nullptr && !is_ping_pong_) {
      skipped_.add(line_number, fmt::format("the benchmark {} is of no collective of ringside's",
                                            benchmark.substr(0, 40)));
    }
  }

  void start_table(const Words& words) {
    const auto average = std::ranges::find(words, is_ping_pong_ ? "t[usec]" : "t_avg[usec]");
    average_.reset();
    if ((of_ != nullptr || is_ping_pong_) && average != words.end()) {
      prefix_ = words_before(words, "#bytes");
      average_ = static_cast<std::size_t>(average - words.begin()) - prefix_;
      columns_ = words.size() - prefix_;
      dtype_ = of_ != nullptr && reduces(of_->collective) ? dtype_of_reductions_ : std::nullopt;
      tables_.emplace_back();
    }
  }

  void read_row(std::size_t line_number, const Words& words, bool is_whole) {
    const auto bytes = whole_in_word(words[0]);
    if (!bytes) {
      average_.reset();  // The table is over.
      return;
    }
    const auto time = words.size() > *average_ ? number_in_word(words[*average_]) : std::nullopt;
    if (words.size() < columns_ || (!is_whole && words.size() == columns_) || !time) {
      skipped_.add(line_number, "the row is cut");
    } else if (const double microseconds = time.value_or(0); is_ping_pong_) {
      add_latency(microseconds);
      if (microseconds > 0 && *bytes > 0) {
        add_bandwidth(static_cast<double>(*bytes) / microseconds * 1e6);
      }
    } else {
      add(line_number, *bytes, microseconds, iterations_in_word(words[1]));
    }
  }

  std::optional<DataType> dtype_of_reductions_;
  bool is_ping_pong_ = false;
  std::optional<std::size_t> average_;  ///< Column of `t_avg`; there is none outside of a table.
  std::size_t columns_ = 0;
};

}  // namespace

std::unique_ptr<LogReader> osu_reader() { return std::make_unique<OsuReader>(); }
std::unique_ptr<LogReader> imb_reader() { return std::make_unique<ImbReader>(); }

}  // namespace ringside
