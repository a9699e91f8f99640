#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/interval.hpp"

/// Copies between pairs of GPUs, as p2pBandwidthLatencyTest (NVIDIA/cuda-samples) and nvbandwidth print them.
namespace ringside {

/// One printed matrix.
struct CopyMatrix {
  std::size_t line = 0;    ///< Line of its title, 1-based.
  std::string title = {};  ///< As printed; of nvbandwidth the name of the test.
  std::string unit = {};   ///< `GB/s` or `us`
  std::size_t columns = 0;
  /// Rows as far as they are there; a cell is absent where `N/A` stands.
  std::vector<std::vector<std::optional<double>>> rows = {};
  bool elided = false;  ///< Some rows were left out of the text.
  bool to_row = false;  ///< Bytes go from the GPU of the column to that of the row, not the other way.
};

struct CopyMatrices {
  std::string format = {};  ///< `p2pBandwidthLatencyTest` or `nvbandwidth`
  std::vector<CopyMatrix> matrices = {};
  std::vector<std::string> gpus = {};   ///< Names, in the order of their numbers; may be empty.
  std::vector<std::string> notes = {};  ///< Whole sentences.
};

/// Whether a text looks like one of them.
bool holds_copy_matrices(std::string_view text);

/// Lines of other programs may stand between the matrices and prefixes are not: rows begin with their number.
/// Throws Error{bad_input} that names `name` when there is no matrix.
CopyMatrices read_copy_matrices(std::string_view text, const std::string& name);

/// What a copy between GPUs reaches alone: over the pairs of the matrix of writes in one direction,
/// peer to peer if there is one. Bytes per second; nothing where no such matrix of GPUs is there.
struct PairRates {
  const CopyMatrix* matrix = nullptr;
  Interval<double> rate = {};  ///< Least, median and most over pairs.
  /// Pairs below half of the median, `0→3 at 0.42 GB/s`.
  std::vector<std::string> slow_pairs = {};
};
std::optional<PairRates> pair_rates(const CopyMatrices& copies);

/// What one GPU and another can do between them, as far as the matrices say; peer to peer where it is on.
struct CopyPair {
  int from = 0;
  int to = 0;
  double bandwidth = 0;                  ///< Bytes per second in this direction alone.
  std::optional<double> both_ways = {};  ///< In this direction while the other one is busy, too.
  std::optional<double> latency = {};    ///< Seconds of a small write.
};
/// Ascending by `from`, then `to`; empty where pair_rates() finds no matrix.
std::vector<CopyPair> copy_pairs(const CopyMatrices& copies);

}  // namespace ringside
