// What scripts round torch.distributed print.
//
// all_reduce_bench.py (stas00/ml-engineering), in its three forms. GB = 10⁹ B; times follow:
//   | payload |    busbw   |    algbw   |           The average bandwidth of all_reduce with a 4.0GB payload (5 trials, 16 ranks):
//   |   32KiB |   0.92GBps |   0.48GBps |            algbw: 44.947 GBps (359.6 Gbps)
//                      0 data size: 6.0 GB  /  tput_avg (Gbps): 1499.18 busbw_avg (Gbps): 1495.65, where tput = 2·8·S/t
//
// PARAM (facebookresearch/param, comms.py): one line a size, all times in us:
//   COMMS-RES-all_reduce-float32  size (B)  nElementsPerRank  Latency(us):p50  p75  p95  Min  Max  AlgBW(GB/s)  BusBW(GB/s)

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "common/error.hpp"
#include "import/parts.hpp"

namespace ringside {
namespace {

/// `4.0GB`, `32KiB`; nothing for other words.
std::optional<std::int64_t> size_in_word(std::string_view word) {
  const auto digits = number_in_word(word.substr(0, word.find_first_not_of("0123456789.")));
  if (!digits || *digits <= 0) {
    return std::nullopt;
  }
  try {
    return parse_bytes(word).value;
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// `44.947` of `44.947GBps`.
std::optional<double> rate_in_word(std::string_view word) {
  const std::size_t end = std::min(word.find_first_not_of("0123456789."), word.size());
  return word.substr(end) == "GBps" ? number_in_word(word.substr(0, end)) : std::nullopt;
}

class AllReduceBenchReader final : public LogReader {
 public:
  AllReduceBenchReader() : LogReader("all_reduce_bench") { tables_.emplace_back(); }
  void read(const LogLine& line) override {
    if (in_table_) {
      read_row(line.number, line.words);
    } else if (payload_) {
      read_payload(line.number, line.words);
    } else if (contains(line.text, "payload") && contains(line.text, "busbw") &&
               contains(line.text, "algbw") && contains(line.text, "|")) {
      found_ = true;
      in_table_ = true;
    } else if (const auto rest = after(line.text, "average bandwidth of all_reduce with a")) {
      const auto words = words_of(*rest);
      found_ = true;
      payload_ = words.empty() ? std::nullopt : size_in_word(words[0]);
      ranks_.reset();
      for (std::size_t i = 1; i < words.size(); ++i) {
        if (const auto ranks = ranks_in_word(words[i - 1]); words[i].starts_with("ranks") && ranks) {
          ranks_ = ranks;
        }
      }
    } else if (const auto size = after(line.text, "data size:")) {
      const auto words = words_of(*size);
      if (words.size() == 2) {
        const std::string joined = fmt::format("{}{}", words[0], words[1]);
        payload_ = size_in_word(joined);
        found_ = found_ || payload_;
      }
    }
  }

  std::vector<TableRows> finish(Import& import) override {
    add_ranks_of_bandwidths(Collective::all_reduce, tables_.front());
    auto tables = LogReader::finish(import);
    if (!tables.empty()) {
      import.notes.push_back(
          fmt::format("line {}: this script prints bandwidths; times were computed from them, with the error "
                      "of their last "
                      "digit",
                      tables.front().row(0).line));
    }
    return tables;
  }

 private:
  void read_row(std::size_t line_number, const Words& words) {
    const auto bytes = words.size() == 3 ? size_in_word(words[0]) : std::nullopt;
    const auto busbw = bytes ? rate_in_word(words[1]) : std::nullopt;
    const auto algbw = bytes ? rate_in_word(words[2]) : std::nullopt;
    if (busbw && algbw && *algbw > 0) {
      add(line_number, *bytes, std::nullopt, static_cast<double>(*bytes) / *algbw * 1e-9,
          {.algbw = *algbw, .busbw = *busbw});
    } else if (words.empty() || !contains(words[0], "-")) {
      in_table_ = false;
    }
  }

  void read_payload(std::size_t line_number, const Words& words) {
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      if (words[i].ends_with("algbw:") && number_in_word(words[i + 1]).value_or(0) > 0 &&
          i + 2 < words.size() && words[i + 2] == "GBps") {
        add(line_number, *payload_, ranks_,
            static_cast<double>(*payload_) / *number_in_word(words[i + 1]) * 1e-9);
        payload_.reset();
        return;
      }
      // `tput_avg (Gbps): 1499.18 busbw_avg (Gbps): 1495.65`; their ratio is n/(n−1).
      if (words[i] == "tput_avg" && i + 5 < words.size() && words[i + 3] == "busbw_avg") {
        const double tput = number_in_word(words[i + 2]).value_or(0);
        const double busbw = number_in_word(words[i + 5]).value_or(0);
        const double ranks = tput > busbw && busbw > 0 ? tput / (tput - busbw) : 0;
        if (tput > 0) {
          const bool whole = ranks >= 2 && ranks < 1e6 && std::abs(ranks - std::round(ranks)) < 0.05;
          add(line_number, *payload_,
              whole ? std::optional(static_cast<int>(std::lround(ranks))) : std::nullopt,
              2 * 8 * static_cast<double>(*payload_) / tput * 1e-9);
          payload_.reset();
        }
        return;
      }
    }
  }

  void add(std::size_t line_number, std::int64_t bytes, std::optional<int> ranks, double seconds,
           const Bandwidths& bandwidths = {}) {
    tables_.front().push_back({.line = line_number,
                               .collective = Collective::all_reduce,
                               .ranks = ranks,
                               .bytes = bytes,
                               .measurement = {.seconds = {seconds}, .backend = Backend::nccl},
                               .bandwidths = bandwidths});
  }

  bool in_table_ = false;
  std::optional<std::int64_t> payload_;  ///< That the next bandwidth is of.
  std::optional<int> ranks_;             ///< Its ranks.
};

class ParamReader final : public LogReader {
 public:
  ParamReader() : LogReader("PARAM") { tables_.emplace_back(); }
  void read(const LogLine& line) override {
    constexpr std::string_view kMark = "COMMS-RES-";
    const auto behind = after(line.text, kMark);
    if (!behind) {
      return;
    }
    const auto words = words_of(*behind);
    const auto bytes = words.size() > 1 ? whole_in_word(words[1]) : std::nullopt;
    if (!bytes) {
      return;  // The names of the columns.
    }
    found_ = true;
    // size, elements, p50, p75, p95, min, max, algbw, busbw
    std::array<double, 9> numbers = {};
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const auto number = i + 1 < words.size() ? number_in_word(words[i + 1]) : std::nullopt;
      if (!number) {
        skipped_.add(line.number, "the row is cut");
        return;
      }
      numbers[i] = *number;
    }
    const std::string_view tag = words[0];
    const std::size_t dash = std::min(tag.find('-'), tag.size());
    const auto collective = parse_name<Collective>(std::string(tag.substr(0, dash)));
    const std::string_view type = tag.substr(std::min(dash + 1, tag.size()));
    const auto dtype = parse_name<DataType>(std::string(type.substr(0, type.find('-'))));
    const double of_algbw = numbers[7] > 0 ? numbers[0] / numbers[7] * 1e-3 : 0;
    if (collective != Collective::all_reduce && collective != Collective::broadcast &&
        collective != Collective::reduce) {
      skipped_.add(line.number,
                   fmt::format("PARAM's {} does not say whether its size is one rank's or that of the whole "
                               "buffer, or is no collective of ringside's",
                               tag.substr(0, dash)));
    } else if (!(numbers[2] > 0) ||
               (numbers[7] >= 0.1 && (of_algbw > 2 * numbers[6] || of_algbw < numbers[5] / 2))) {
      skipped_.add(line.number, "its times and its bandwidth do not fit each other");
    } else {
      ImportedRow row{.line = line.number,
                      .collective = collective,
                      .dtype = dtype,
                      .bytes = *bytes,
                      .measurement = {.seconds = {numbers[2] * 1e-6}, .backend = Backend::nccl}};
      row.measurement.min = {numbers[5] * 1e-6};
      row.measurement.p95 = {numbers[4] * 1e-6};
      if (collective == Collective::all_reduce) {
        row.bandwidths = {.algbw = numbers[7], .busbw = numbers[8]};
      }
      tables_.front().push_back(std::move(row));
    }
  }

  std::vector<TableRows> finish(Import& import) override {
    add_ranks_of_bandwidths(Collective::all_reduce, tables_.front());
    return LogReader::finish(import);
  }
};

}  // namespace

std::unique_ptr<LogReader> all_reduce_bench_reader() { return std::make_unique<AllReduceBenchReader>(); }

std::unique_ptr<LogReader> param_reader() { return std::make_unique<ParamReader>(); }

}  // namespace ringside
