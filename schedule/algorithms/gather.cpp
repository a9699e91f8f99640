// gather: every rank's part of the message, S/n, to the root. L = ⌈log₂ n⌉, h = 2^(L−1).
//
//                          naive       ring               binomial_tree
//   messages in sequence   n−1         n−1                L
//   bytes in sequence      (n−1)/n·S   (n−1)/n·S          (n−1)/n·S if root < h, else (2h−1)/n·S
//   sent per rank          S/n         at most (n−1)/n·S  at most h/n·S
//   restriction            none        none               none
//
// Source: R. Thakur, R. Rabenseifner, W. Gropp, Int. J. High Performance Computing Applications 19(1), 2005
// (binomial tree); J. Pješivac-Grbović et al., "Performance analysis of MPI collective operations", Cluster
// Computing 10(2), 2007 (linear, chain).

#include <algorithm>

#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/phases.hpp"

namespace ringside {
namespace {

/// naive and ring: n−1 messages of one part each.
ScheduleShape linear_shape(const ScheduleRequest& request) {
  return {.num_chunks = request.num_ranks, .num_rounds = request.num_ranks - 1};
}

CriticalPath linear_critical_path(const ScheduleRequest& request) {
  const double n = request.num_ranks;
  return {.messages = n - 1, .bytes = (n - 1) / n};
}

namespace naive {

void write_round(const ScheduleRequest& request, std::int64_t round, RoundWriter& writer) {
  const Rank source = wrapped(request.root + 1 + static_cast<int>(round), request.num_ranks);
  writer.copy(source, request.root, source);
}

}  // namespace naive

namespace ring {

/// Everybody passes on what came in the round before; counted from the root, v sends the part of v + round.
void write_round(const ScheduleRequest& request, std::int64_t round, RoundWriter& writer) {
  const int n = request.num_ranks;
  for (int v = 1; v + round < n; ++v) {
    writer.copy(wrapped(request.root + v, n), wrapped(request.root + v - 1, n),
                wrapped(request.root + v + static_cast<int>(round), n));
  }
}

}  // namespace ring

namespace binomial_tree {

ScheduleShape shape(const ScheduleRequest& request) {
  return {.num_chunks = request.num_ranks, .num_rounds = num_doublings(request.num_ranks)};
}

/// Intervals of 2^round ranks merge in pairs. The first rank of an interval has all its parts, or the root
/// where the root is in it: so the parts that move are neighbours, whichever rank is the root.
void write_round(const ScheduleRequest& request, std::int64_t round, RoundWriter& writer) {
  const int n = request.num_ranks;
  const int half = 1 << round;
  for (int left = 0; left + half < n; left += 2 * half) {
    const int right = left + half;
    const int end = std::min(right + half, n);
    if (request.root >= right && request.root < end) {
      writer.copy(left, request.root, left, half);
    } else {
      const bool root_in_left = request.root >= left && request.root < right;
      writer.copy(right, root_in_left ? request.root : left, right, end - right);
    }
  }
}

/// Only the last pair of intervals can be unequal: the left one is full, and its sequence is the longest on
/// either side.
CriticalPath critical_path(const ScheduleRequest& request) {
  const int n = request.num_ranks;
  const int levels = num_doublings(n);
  if (levels == 0) {
    return {};
  }
  const int half = 1 << (levels - 1);
  const int last = request.root < half ? n - half : half;
  return {.messages = static_cast<double>(levels), .bytes = static_cast<double>(half - 1 + last) / n};
}

}  // namespace binomial_tree

}  // namespace

Algorithm naive_gather() {
  return {.name = "naive",
          .collective = Collective::gather,
          .summary = "every rank sends its part to the root, one after another",
          .wins_when = "messages are long: the root must receive everything in any case",
          .shape = linear_shape,
          .write_round = naive::write_round,
          .critical_path = linear_critical_path};
}

Algorithm ring_gather() {
  return {.name = "ring",
          .collective = Collective::gather,
          .summary = "a chain: every rank passes parts on toward the root",
          .wins_when = "only neighbours are connected well",
          .shape = linear_shape,
          .write_round = ring::write_round,
          .critical_path = linear_critical_path};
}

Algorithm binomial_tree_gather() {
  return {.name = "binomial_tree",
          .collective = Collective::gather,
          .summary = "in each round the intervals of ranks whose parts are together double",
          .wins_when = "messages are short",
          .shape = binomial_tree::shape,
          .write_round = binomial_tree::write_round,
          .critical_path = binomial_tree::critical_path};
}

}  // namespace ringside
