// DeepSpeed's summary of a training run's communication (deepspeed.comm.log_summary()):
//
//   Comm. Op            Message Size   Count   Total Latency(ms)   Avg Latency(ms)   tput_avg (Gbps)   busbw_avg (Gbps)
//   broadcast | [Caller Func: _broadcast_model]
//                       98.25 MB       1       8317.12             8317.12           0.20              0.19
//
// Sizes are rounded to two decimals of 1024^k bytes, times to 0.01 ms. A note says that its calls ran beside
// computation. Versions differ in the size of all_gather and reduce_scatter; those rows are skipped.

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "import/parts.hpp"

namespace ringside {
namespace {

std::optional<double> bytes_per_unit(std::string_view unit) {
  constexpr auto kUnits = std::to_array<std::string_view>({"B", "KB", "MB", "GB", "TB"});
  const auto* const found = std::ranges::find(kUnits, unit);
  return found == kUnits.end() ? std::nullopt
                               : std::optional(std::pow(1024.0, static_cast<double>(found - kUnits.begin())));
}

class DeepSpeedReader final : public LogReader {
 public:
  DeepSpeedReader() : LogReader("DeepSpeed") { tables_.emplace_back(); }
  void read(const LogLine& line) override {
    if (contains(line.text, "Comm. Op") && contains(line.text, "Message Size")) {
      found_ = true;
      line_ = line.number;
      operation_.clear();
      return;
    }
    if (!found_) {
      return;
    }
    const Words& words = line.words;
    const auto unit = words.size() >= 7 ? bytes_per_unit(words[1]) : std::nullopt;
    if (unit && !operation_.empty()) {
      read_row(line.number, words, *unit);
    } else if (!words.empty() && line.text.find_first_of(" \t|[") != 0 &&
               words[0].find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string_view::npos) {
      operation_ = std::string(words[0]);
    }
  }

  std::vector<TableRows> finish(Import& import) override {
    // What both columns differ by is (n−1)/n, here in Gbit/s.
    const auto ranks = ranks_of_bandwidths(Collective::all_gather, bandwidths_);
    for (ImportedRow& row : tables_.front()) {
      row.ranks = ranks;
    }
    auto tables = LogReader::finish(import);
    if (!tables.empty()) {
      import.notes.push_back(fmt::format(
          "line {}: these are calls of a training run, rounded and beside its computation: no benchmark",
          line_));
    }
    return tables;
  }

 private:
  void read_row(std::size_t line_number, const Words& words, double unit) {
    const auto size = number_in_word(words[0]);
    const auto milliseconds = number_in_word(words[4]);
    const auto tput = number_in_word(words[5]);
    const auto busbw = number_in_word(words[6]);
    if (!size || !whole_in_word(words[2]) || !milliseconds || !tput || !busbw) {
      return;
    }
    const auto collective = parse_name<Collective>(operation_);
    const bool parts = operation_.starts_with("all_gather") || operation_.starts_with("reduce_scatter");
    if (parts || collective == Collective::all_reduce) {
      bandwidths_.push_back({.algbw = *tput, .busbw = *busbw});
    }
    if (parts) {
      skipped_.add(line_number,
                   fmt::format("DeepSpeed does not say whether the size of {} is one rank's or the whole",
                               operation_));
    } else if (!collective) {
      skipped_.add(line_number, fmt::format("the operation {} is no collective of ringside's", operation_));
    } else if (!(*milliseconds > 0) || !(*size > 0) || *size * unit > 1e15) {
      skipped_.add(line_number, "it has no time or no size");
    } else {
      ImportedRow row{.line = line_number,
                      .collective = collective,
                      .bytes = std::llround(*size * unit),
                      .measurement = {.seconds = {*milliseconds * 1e-3}, .backend = Backend::nccl}};
      row.measurement.iterations = iterations_in_word(words[2]);
      tables_.front().push_back(std::move(row));
    }
  }

  std::size_t line_ = 0;  ///< The table starts in.
  std::string operation_;
  std::vector<Bandwidths> bandwidths_;
};

}  // namespace

std::unique_ptr<LogReader> deepspeed_reader() { return std::make_unique<DeepSpeedReader>(); }

}  // namespace ringside
