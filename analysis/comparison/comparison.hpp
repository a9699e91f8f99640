#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/names.hpp"
#include "common/units.hpp"
#include "results/point.hpp"
#include "results/point_key.hpp"

/// Points as rows of a table.
namespace ringside {

/// S/t times a factor for the number of ranks: 2(N−1)/N for all_reduce, (N−1)/N for reduce_scatter,
/// all_gather and gather, 1 for broadcast and reduce. None where the factor or the time is 0 (one rank
/// moves nothing). Source: nccl-tests, doc/PERFORMANCE.md and, for gather, src/gather.cu.
std::optional<BytesPerSecond> bus_bandwidth(Collective collective, int ranks, Bytes bytes, Seconds time);

struct ComparisonRow {
  PointKey key;
  std::optional<Prediction> predicted = {};
  std::optional<Measurement> measured = {};
  std::optional<double> ratio = {};  ///< predicted / measured; above 1 the prediction is too long
  std::optional<BytesPerSecond> predicted_busbw = {};
  std::optional<BytesPerSecond> measured_busbw = {};
  /// Clearly the fastest of its ranks and size but `native`, of two at least, as verdicts judge it: by
  /// measured times where there are any, else by predicted ones.
  bool fastest = false;
  bool first_of_group =
      false;  ///< Whether it is the first of its ranks and size: where a table may leave a gap.
};

/// Sorted by collective, ranks and size; within those in the order of `points`, which has one point per key.
std::vector<ComparisonRow> comparison(std::span<const Point> points);

}  // namespace ringside
