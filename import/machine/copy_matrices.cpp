// p2pBandwidthLatencyTest:                                       nvbandwidth:
//   Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)   Running device_to_device_memcpy_write_ce.
//      D\D     0      1                                               memcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)
//        0 802.93  26.33                                                        0         1
//        1  26.32 833.33                                              0      0.00    276.07
//
// A second matrix of latencies, by the CPU's clock, begins with `CPU` for `GPU`: its title tells.

#include "import/machine/copy_matrices.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "common/failures.hpp"
#include "common/mapped.hpp"
#include "import/parts.hpp"

namespace ringside {
namespace {

struct Title {
  std::string text;
  std::string unit;
  bool nvbandwidth = false;
  bool to_row = false;
};

/// The title of a matrix; `running` is the test that nvbandwidth said it runs.
std::optional<Title> title_of(std::string_view line, const std::string& running) {
  for (const std::string_view unit : {"GB/s", "us"}) {
    const std::string mark = fmt::format("Matrix ({})", unit);
    if (const std::size_t end = line.find(mark); end != std::string_view::npos && line.find("P2P=") < end) {
      const std::size_t kind = std::min(line.find("Unidirectional"), line.find("Bidirectional"));
      const std::size_t start = std::min(kind, line.find("P2P="));
      // Only writes go from the row's GPU; copies of older versions, and reads, are fetched by it.
      return Title{.text = std::string(line.substr(start, end + mark.size() - start)),
                   .unit = std::string(unit),
                   .to_row = !contains(line, "P2P Writes")};
    }
  }
  if (contains(line, "memcpy") && contains(line, "(row)") && contains(line, "bandwidth (GB/s)")) {
    const std::size_t last = line.find_last_not_of(" \t\r");
    return Title{.text = running.empty() ? std::string(line.substr(0, last + 1)) : running,
                 .unit = "GB/s",
                 .nvbandwidth = true,
                 .to_row = line.find("(row) <-") != std::string_view::npos};
  }
  return std::nullopt;
}

/// `0 1 2 …`, perhaps behind a word in the corner; 0 when the line is no such.
std::size_t columns_of(const std::vector<std::string_view>& words) {
  const std::size_t first = !words.empty() && !whole_in_word(words[0]) ? 1 : 0;
  for (std::size_t i = first; i < words.size(); ++i) {
    if (whole_in_word(words[i]) != static_cast<std::int64_t>(i - first)) {
      return 0;
    }
  }
  return words.size() - std::min(first, words.size());
}

bool is_elided(const std::vector<std::string_view>& words) {
  return words.size() == 1 && words[0].size() > 1 &&
         words[0].find_first_not_of('.') == std::string_view::npos;
}

class MatrixReader {
 public:
  void read(std::size_t number, std::string_view line) {
    if (auto title = title_of(line, running_)) {
      result.format = title->nvbandwidth ? "nvbandwidth" : "p2pBandwidthLatencyTest";
      p2p_title_ = title->nvbandwidth ? std::string() : title->text;
      result.matrices.push_back({.line = number,
                                 .title = std::move(title->text),
                                 .unit = std::move(title->unit),
                                 .to_row = title->to_row});
      state_ = State::before_columns;
      return;
    }
    const auto words = words_of(line);
    if (state_ == State::before_columns) {
      result.matrices.back().columns = columns_of(words);
      state_ = result.matrices.back().columns > 0 ? State::in_rows : State::outside;
      return;
    }
    if (state_ == State::in_rows && read_row(number, words)) {
      return;
    }
    state_ = State::outside;
    read_other(number, line, words);
  }

  CopyMatrices result;

 private:
  void read_other(std::size_t number, std::string_view line, const std::vector<std::string_view>& words) {
    if (const auto running = after(line, "Running ")) {
      running_ = std::string(first_word(*running));
      running_ = running_.ends_with('.') ? running_.substr(0, running_.size() - 1) : running_;
    } else if (const auto device = after(line, "Device: ")) {
      // `Device: 0, NVIDIA RTX 6000 Ada Generation, pciBusID: 1, …`
      const std::size_t start = std::min(device->find(", "), device->size());
      const std::size_t end = std::min(device->find(", pciBusID"), device->size());
      if (start + 2 < end) {
        result.gpus.emplace_back(device->substr(start + 2, end - start - 2));
      }
    } else if (words.size() > 2 && words[0] == "Device" && words[1].ends_with(':')) {
      // `Device 0: NVIDIA GH200 480GB (00000009:01:00)`
      const std::size_t start = line.find(':') + 2;
      result.gpus.emplace_back(line.substr(start, line.find(" (") - start));
    } else if (state_ == State::outside && !p2p_title_.empty() && words.size() > 1 && words[0] == "CPU" &&
               columns_of(words) > 0) {
      result.matrices.push_back({.line = number,
                                 .title = p2p_title_ + ", by the CPU's clock",
                                 .unit = result.matrices.back().unit,
                                 .columns = columns_of(words)});
      state_ = State::in_rows;
    }
  }

  bool read_row(std::size_t number, const std::vector<std::string_view>& words) {
    CopyMatrix& matrix = result.matrices.back();
    if (is_elided(words)) {
      matrix.elided = true;
      result.notes.push_back(
          fmt::format("line {}: rows of this matrix were left out; they stay absent", number));
      return true;
    }
    if (words.empty() || whole_in_word(words[0]) != static_cast<std::int64_t>(matrix.rows.size())) {
      return false;
    }
    if (words.size() < matrix.columns + 1) {
      result.notes.push_back(fmt::format("line {}: the row was skipped: it has {} of {} columns", number,
                                         words.size() - 1, matrix.columns));
      return false;
    }
    std::vector<std::optional<double>>& row = matrix.rows.emplace_back();
    for (std::size_t i = 1; i <= matrix.columns; ++i) {
      const auto value = number_in_word(words[i]);
      row.push_back(value && *value >= 0 && *value < 1e9 ? value : std::nullopt);
    }
    return true;
  }

  enum class State { outside, before_columns, in_rows };
  State state_ = State::outside;
  std::string running_;
  std::string p2p_title_;  ///< Title of the last matrix of p2pBandwidthLatencyTest.
};

/// That of writes in one direction, peer to peer if there is one; null where no such matrix of GPUs is there.
const CopyMatrix* matrix_of_rates(const CopyMatrices& copies) {
  for (const std::string_view wanted :
       {"Unidirectional P2P=Enabled Bandwidth", "device_to_device_memcpy_write_ce",
        "device_to_device_memcpy_read_ce", "Unidirectional P2P=Disabled Bandwidth"}) {
    for (const CopyMatrix& matrix : copies.matrices) {
      if (matrix.title.starts_with(wanted) && matrix.columns > 1) {
        return &matrix;
      }
    }
  }
  return nullptr;
}

/// Pairs with their bandwidth, in the order of the cells.
std::vector<CopyPair> pairs_of(const CopyMatrix& matrix) {
  std::vector<CopyPair> pairs;
  for (std::size_t row = 0; row < matrix.rows.size(); ++row) {
    for (std::size_t column = 0; column < matrix.columns; ++column) {
      const double rate = matrix.rows[row][column].value_or(0);
      if (row != column && rate > 0) {
        pairs.push_back({.from = static_cast<int>(matrix.to_row ? column : row),
                         .to = static_cast<int>(matrix.to_row ? row : column),
                         .bandwidth = rate * kGiga});
      }
    }
  }
  return pairs;
}

}  // namespace

bool holds_copy_matrices(std::string_view text) {
  return (contains(text, "P2P=") && contains(text, "Matrix (")) ||
         (contains(text, "memcpy ") && contains(text, "(row)"));
}

CopyMatrices read_copy_matrices(std::string_view text, const std::string& name) {
  MatrixReader reader;
  each_line_of(text, [&](std::size_t number, std::string_view line) { reader.read(number, line); });
  std::erase_if(reader.result.matrices, [](const CopyMatrix& matrix) { return matrix.rows.empty(); });
  if (reader.result.matrices.empty()) {
    throw bad_input("{}: holds no row of a matrix of p2pBandwidthLatencyTest or nvbandwidth; was it cut?",
                    name);
  }
  for (const CopyMatrix& matrix : reader.result.matrices) {
    const bool square = contains(matrix.title, "P2P=");
    if (square && !matrix.elided && matrix.rows.size() < matrix.columns) {
      reader.result.notes.push_back(fmt::format("line {}: the matrix is cut: it has {} of {} rows",
                                                matrix.line, matrix.rows.size(), matrix.columns));
    }
  }
  return std::move(reader.result);
}

std::optional<PairRates> pair_rates(const CopyMatrices& copies) {
  const CopyMatrix* const matrix = matrix_of_rates(copies);
  const std::vector<CopyPair> pairs = matrix == nullptr ? std::vector<CopyPair>{} : pairs_of(*matrix);
  if (pairs.empty()) {
    return std::nullopt;
  }
  std::vector<double> rates = mapped(pairs, &CopyPair::bandwidth);
  std::ranges::sort(rates);
  const double median = rates[rates.size() / 2];
  PairRates result{.matrix = matrix, .rate = {.low = rates.front(), .typical = median, .high = rates.back()}};
  for (const CopyPair& pair : pairs) {
    if (pair.bandwidth < median / 2) {
      result.slow_pairs.push_back(
          fmt::format("{}→{} at {:.2f} GB/s", pair.from, pair.to, pair.bandwidth / kGiga));
    }
  }
  return result;
}

std::vector<CopyPair> copy_pairs(const CopyMatrices& copies) {
  const CopyMatrix* const matrix = matrix_of_rates(copies);
  if (matrix == nullptr) {
    return {};
  }
  const std::string state = contains(matrix->title, "P2P=Disabled") ? "P2P=Disabled" : "P2P=Enabled";
  const auto titled = [&](const std::string& start, bool of_p2p) -> const CopyMatrix* {
    const auto found = std::ranges::find_if(copies.matrices, [&](const CopyMatrix& one) {
      return one.title.starts_with(start) && contains(one.title, "P2P=") == of_p2p;
    });
    return found == copies.matrices.end() ? nullptr : &*found;
  };
  // p2pBandwidthLatencyTest adds both directions up, nvbandwidth shows one of them first.
  const CopyMatrix* const sums = titled("Bidirectional " + state, true);
  const CopyMatrix* const each = titled("device_to_device_bidirectional_memcpy_write_ce", false);
  const CopyMatrix* const latencies = titled(state + " Latency", true);
  std::vector<CopyPair> pairs = pairs_of(*matrix);
  for (CopyPair& pair : pairs) {
    const auto beside = [&](const CopyMatrix* other, double unit) {
      const auto row = static_cast<std::size_t>(matrix->to_row ? pair.to : pair.from);
      const auto column = static_cast<std::size_t>(matrix->to_row ? pair.from : pair.to);
      const bool there = other != nullptr && row < other->rows.size() && column < other->columns;
      const double value = there ? other->rows[row][column].value_or(0) : 0;
      return value > 0 ? std::optional(value * unit) : std::nullopt;
    };
    pair.both_ways = sums != nullptr ? beside(sums, kGiga / 2) : beside(each, kGiga);
    pair.latency = beside(latencies, kMicro);
  }
  std::ranges::stable_sort(pairs, [](const CopyPair& a, const CopyPair& b) {
    return std::pair(a.from, a.to) < std::pair(b.from, b.to);
  });
  return pairs;
}

}  // namespace ringside
