// reduce: every rank's message, reduced at the root. L = ⌈log₂ n⌉; ring cuts the message into s segments.
//
//                          naive     ring, s >= 2      ring, s = 1   binomial_tree
//   messages in sequence   n−1       R = s + 2(n−2)    n−1           L
//   bytes in sequence      (n−1)·S   R/s·S             (n−1)·S       L·S
//   reduced in sequence    (n−1)·S   S/s               (n−1)·S       L·S
//   sent per rank          S         S                 S             S
//   restriction            none      none              none          none
//
// ring assumes γ <= β for s >= 2: a rank sends a segment on two rounds after it came, so that the reduction
// hides behind a transfer; only the root's last one shows. By default there are as many segments as it takes
// rounds to fill that pipeline, 2(n−2), so that it costs 2S.
//
// Source: R. Thakur, R. Rabenseifner, W. Gropp, Int. J. High Performance Computing Applications 19(1), 2005
// (binomial tree); J. Pješivac-Grbović et al., "Performance analysis of MPI collective operations", Cluster
// Computing 10(2), 2007 (linear, pipeline).

#include <algorithm>

#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/phases.hpp"

namespace ringside {
namespace {

namespace naive {

ScheduleShape shape(const ScheduleRequest& request) { return {.num_rounds = request.num_ranks - 1}; }

void write_round(const ScheduleRequest& request, std::int64_t round, RoundWriter& writer) {
  writer.reduce(wrapped(request.root + 1 + static_cast<int>(round), request.num_ranks), request.root, 0);
}

CriticalPath critical_path(const ScheduleRequest& request) {
  const double n = request.num_ranks;
  return {.messages = n - 1, .bytes = n - 1, .reduced_bytes = n - 1};
}

}  // namespace naive

namespace ring {

int num_segments(const ScheduleRequest& request) {
  return request.segments == 0 ? std::max(1, 2 * (request.num_ranks - 2)) : request.segments;
}

/// Rounds between a segment's coming and its going on. A single segment has nothing to hide behind.
int rounds_per_hop(const ScheduleRequest& request) { return num_segments(request) == 1 ? 1 : 2; }

std::int64_t num_rounds(const ScheduleRequest& request) {
  const std::int64_t n = request.num_ranks;
  return n == 1 ? 0 : num_segments(request) + rounds_per_hop(request) * (n - 2);
}

ScheduleShape shape(const ScheduleRequest& request) {
  return {.num_chunks = num_segments(request), .num_rounds = num_rounds(request)};
}

void write_round(const ScheduleRequest& request, std::int64_t round, RoundWriter& writer) {
  const int n = request.num_ranks;
  const int pace = rounds_per_hop(request);
  // Segment j makes hop h, from position n−1−h down to n−2−h, in round j + pace·h.
  const std::int64_t oldest_segment = round - num_segments(request) + 1;
  const std::int64_t first = oldest_segment <= 0 ? 0 : (oldest_segment + pace - 1) / pace;
  const std::int64_t last = std::min<std::int64_t>(n - 2, round / pace);
  for (auto hop = static_cast<int>(first); hop <= last; ++hop) {
    writer.reduce(wrapped(request.root + n - 1 - hop, n), wrapped(request.root + n - 2 - hop, n),
                  static_cast<std::int32_t>(round - std::int64_t{pace} * hop));
  }
}

CriticalPath critical_path(const ScheduleRequest& request) {
  const auto rounds = static_cast<double>(num_rounds(request));
  const double segments = num_segments(request);
  const double exposed_reductions = rounds_per_hop(request) == 1 ? rounds : std::min(rounds, 1.0);
  return {.messages = rounds, .bytes = rounds / segments, .reduced_bytes = exposed_reductions / segments};
}

}  // namespace ring

namespace binomial_tree {

ScheduleShape shape(const ScheduleRequest& request) {
  return {.num_rounds = num_doublings(request.num_ranks)};
}

CriticalPath critical_path(const ScheduleRequest& request) {
  const double levels = num_doublings(request.num_ranks);
  return {.messages = levels, .bytes = levels, .reduced_bytes = levels};
}

}  // namespace binomial_tree

}  // namespace

Algorithm naive_reduce() {
  return {.name = "naive",
          .collective = Collective::reduce,
          .summary = "every rank sends everything to the root, one after another",
          .wins_when = "there are two ranks",
          .shape = naive::shape,
          .write_round = naive::write_round,
          .critical_path = naive::critical_path};
}

Algorithm ring_reduce() {
  return {.name = "ring",
          .collective = Collective::reduce,
          .summary = "a pipelined chain: segments travel toward the root and are reduced at each rank",
          .wins_when = "messages are long and ranks not too many",
          .shape = ring::shape,
          .write_round = ring::write_round,
          .critical_path = ring::critical_path};
}

Algorithm binomial_tree_reduce() {
  return {.name = "binomial_tree",
          .collective = Collective::reduce,
          .summary = "in each round half of the ranks that still hold a part send it to the other half",
          .wins_when = "messages are short",
          .shape = binomial_tree::shape,
          .write_round = write_binomial_reduce,
          .critical_path = binomial_tree::critical_path};
}

}  // namespace ringside
