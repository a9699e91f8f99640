// Gloo's own benchmark (facebookincubator/gloo, gloo/benchmark): elements of 4 bytes, times in us.
//
//   Algorithm:   allreduce_ring_chunked
//   Options:     processes=4, inputs=1, threads=1
//      elements   min (us)   p50 (us)   p99 (us)   max (us)   avg (GB/s)    samples
//     268435456    1443672    1443672    1443672    1443672        0.693          1

#include <array>
#include <utility>

#include <fmt/format.h>

#include "import/parts.hpp"

namespace ringside {
namespace {

class GlooBenchmarkReader final : public LogReader {
 public:
  GlooBenchmarkReader() : LogReader("Gloo's benchmark") {}
  void read(const LogLine& line) override {
    if (in_table_) {
      read_row(line.number, line.words);
    }
    if (const auto algorithm = after(line.text, "Algorithm:"); algorithm && !first_word(*algorithm).empty()) {
      algorithm_ = std::string(first_word(*algorithm));
    } else if (const auto processes = after(line.text, "processes=")) {
      ranks_ = ranks_in_word(processes->substr(0, processes->find_first_not_of("0123456789")));
    } else if (contains(line.text, "elements") && contains(line.text, "p50 (us)")) {
      found_ = true;
      in_table_ = true;
      tables_.emplace_back();
    }
  }

 private:
  void read_row(std::size_t line_number, const Words& words) {
    const auto elements = words.empty() ? std::nullopt : whole_in_word(words[0]);
    if (!elements) {
      in_table_ = false;
      return;
    }
    // min, p50, p99, max
    std::array<double, 4> us = {};
    for (std::size_t i = 0; i < us.size(); ++i) {
      us[i] = i + 1 < words.size() ? number_in_word(words[i + 1]).value_or(0) : 0;
    }
    const bool all_reduce = contains(algorithm_, "allreduce");
    if (words.size() < 7 || !(us[1] > 0)) {
      skipped_.add(line_number, "the row is cut");
    } else if (!all_reduce || *elements == 0 || *elements > (std::int64_t{1} << 50)) {
      skipped_.add(line_number,
                   fmt::format("{} is no all_reduce, whose elements have 4 bytes",
                               algorithm_.empty() ? "an algorithm that is not named" : algorithm_));
    } else {
      ImportedRow row{.line = line_number,
                      .collective = Collective::all_reduce,
                      .algorithm = algorithm_ == "new_allreduce_ring" ? "native" : algorithm_,
                      .ranks = ranks_,
                      .bytes = *elements * 4,
                      .measurement = {.seconds = {us[1] * 1e-6}, .backend = Backend::gloo}};
      row.measurement.min = {us[0] * 1e-6};
      row.measurement.iterations = iterations_in_word(words[6]);
      tables_.back().push_back(std::move(row));
    }
  }

  bool in_table_ = false;
  std::string algorithm_;
  std::optional<int> ranks_;
};

}  // namespace

std::unique_ptr<LogReader> gloo_benchmark_reader() { return std::make_unique<GlooBenchmarkReader>(); }

}  // namespace ringside
