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

#include "common/error.hpp"
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
                   .to_row = line.find("P2P Writes") == std::string_view::npos};
    }
  }
  if (line.find("memcpy") != std::string_view::npos && line.find("(row)") != std::string_view::npos &&
      line.find("bandwidth (GB/s)") != std::string_view::npos) {
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
  void read(std::size_t number, std::string_view line);
  CopyMatrices result;

 private:
  void read_other(std::size_t number, std::string_view line, const std::vector<std::string_view>& words);
  bool read_row(std::size_t number, const std::vector<std::string_view>& words);

  enum class State { outside, before_columns, in_rows };
  State state_ = State::outside;
  std::string running_;
  std::string p2p_title_;  ///< Title of the last matrix of p2pBandwidthLatencyTest.
};

bool MatrixReader::read_row(std::size_t number, const std::vector<std::string_view>& words) {
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

void MatrixReader::read_other(std::size_t number, std::string_view line,
                              const std::vector<std::string_view>& words) {
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

void MatrixReader::read(std::size_t number, std::string_view line) {
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

}  // namespace

bool holds_copy_matrices(std::string_view text) {
  return (text.find("P2P=") != std::string_view::npos && text.find("Matrix (") != std::string_view::npos) ||
         (text.find("memcpy ") != std::string_view::npos && text.find("(row)") != std::string_view::npos);
}

CopyMatrices read_copy_matrices(std::string_view text, const std::string& name) {
  MatrixReader reader;
  each_line_of(text, [&](std::size_t number, std::string_view line) { reader.read(number, line); });
  std::erase_if(reader.result.matrices, [](const CopyMatrix& matrix) { return matrix.rows.empty(); });
  if (reader.result.matrices.empty()) {
    throw Error(
        ErrorKind::bad_input,
        fmt::format("{}: holds no row of a matrix of p2pBandwidthLatencyTest or nvbandwidth; was it cut?",
                    name));
  }
  for (const CopyMatrix& matrix : reader.result.matrices) {
    const bool square = matrix.title.find("P2P=") != std::string::npos;
    if (square && !matrix.elided && matrix.rows.size() < matrix.columns) {
      reader.result.notes.push_back(fmt::format("line {}: the matrix is cut: it has {} of {} rows",
                                                matrix.line, matrix.rows.size(), matrix.columns));
    }
  }
  return std::move(reader.result);
}

std::optional<PairRates> pair_rates(const CopyMatrices& copies) {
  constexpr double kGigabyte = 1e9;
  PairRates best;
  for (const std::string_view wanted :
       {"Unidirectional P2P=Enabled Bandwidth", "device_to_device_memcpy_write_ce",
        "device_to_device_memcpy_read_ce", "Unidirectional P2P=Disabled Bandwidth"}) {
    for (const CopyMatrix& matrix : copies.matrices) {
      if (best.matrix == nullptr && matrix.title.starts_with(wanted) && matrix.columns > 1) {
        best.matrix = &matrix;
      }
    }
  }
  if (best.matrix == nullptr) {
    return std::nullopt;
  }
  std::vector<double> rates;
  const auto each_pair = [&](auto use) {
    for (std::size_t from = 0; from < best.matrix->rows.size(); ++from) {
      for (std::size_t to = 0; to < best.matrix->columns; ++to) {
        if (from != to && best.matrix->rows[from][to].value_or(0) > 0) {
          use(from, to, *best.matrix->rows[from][to]);
        }
      }
    }
  };
  each_pair([&](std::size_t, std::size_t, double rate) { rates.push_back(rate); });
  if (rates.empty()) {
    return std::nullopt;
  }
  std::sort(rates.begin(), rates.end());
  const double median = rates[rates.size() / 2];
  best.rate = {
      .low = rates.front() * kGigabyte, .typical = median * kGigabyte, .high = rates.back() * kGigabyte};
  each_pair([&](std::size_t from, std::size_t to, double rate) {
    if (rate < median / 2) {
      const bool to_row = best.matrix->to_row;
      best.slow_pairs.push_back(
          fmt::format("{}→{} at {:.2f} GB/s", to_row ? to : from, to_row ? from : to, rate));
    }
  });
  return best;
}

std::vector<CopyPair> copy_pairs(const CopyMatrices& copies) {
  const auto rates = pair_rates(copies);
  if (!rates) {
    return {};
  }
  const bool peer = rates->matrix->title.find("P2P=Disabled") == std::string::npos;
  const std::string state = peer ? "P2P=Enabled" : "P2P=Disabled";
  const auto titled = [&](const std::string& start, bool of_p2p) -> const CopyMatrix* {
    const auto found =
        std::find_if(copies.matrices.begin(), copies.matrices.end(), [&](const CopyMatrix& matrix) {
          return matrix.title.starts_with(start) &&
                 (matrix.title.find("P2P=") != std::string::npos) == of_p2p;
        });
    return found == copies.matrices.end() ? nullptr : &*found;
  };
  // p2pBandwidthLatencyTest adds both directions up, nvbandwidth shows one of them first.
  const CopyMatrix* const sums = titled("Bidirectional " + state, true);
  const CopyMatrix* const each = titled("device_to_device_bidirectional_memcpy_write_ce", false);
  const CopyMatrix* const latencies = titled(state + " Latency", true);
  const auto cell = [](const CopyMatrix* matrix, std::size_t row, std::size_t column) {
    const bool there = matrix != nullptr && row < matrix->rows.size() && column < matrix->columns;
    const auto value = there ? matrix->rows[row][column] : std::nullopt;
    return value.value_or(0) > 0 ? value : std::nullopt;
  };
  const auto scaled = [](const std::optional<double>& value, double factor) {
    return value ? std::optional(*value * factor) : std::nullopt;
  };
  std::vector<CopyPair> pairs;
  for (std::size_t row = 0; row < rates->matrix->rows.size(); ++row) {
    for (std::size_t column = 0; column < rates->matrix->columns; ++column) {
      const auto rate = cell(rates->matrix, row, column);
      if (row == column || !rate) {
        continue;
      }
      const bool to_row = rates->matrix->to_row;
      const auto from = to_row ? column : row;
      const auto to = to_row ? row : column;
      pairs.push_back({.from = static_cast<int>(from),
                       .to = static_cast<int>(to),
                       .bandwidth = *rate * 1e9,
                       .both_ways = sums != nullptr ? scaled(cell(sums, row, column), 0.5e9)
                                                    : scaled(cell(each, row, column), 1e9),
                       .latency = scaled(cell(latencies, row, column), 1e-6)});
    }
  }
  std::stable_sort(pairs.begin(), pairs.end(), [](const CopyPair& a, const CopyPair& b) {
    return std::pair(a.from, a.to) < std::pair(b.from, b.to);
  });
  return pairs;
}

}  // namespace ringside
