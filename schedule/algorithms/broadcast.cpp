// broadcast: the root's message to every rank. L = ⌈log₂ n⌉; ring cuts the message into s segments.
//
//                          naive     ring                        binomial_tree
//   messages in sequence   n−1       s + n − 2                   L
//   bytes in sequence      (n−1)·S   (s + n − 2)/s·S             L·S
//   sent per rank          root      S                           root
//                          (n−1)·S                               L·S
//   restriction            none      none                        none
//
//                          binary_tree   knomial_tree    scatter_all_gather
//   messages in sequence   ⌊log₂ n⌋      ⌈log₄ n⌉        2L
//   bytes in sequence      ⌊log₂ n⌋·S    ⌈log₄ n⌉·S      2C/n·S at most
//   sent per rank          2S            root            root 2(n−1)/n·S
//                                        3⌈log₄ n⌉·S     for powers of two
//   restriction            none          none            none
//
// C/n is ⌈n/2⌉/n + ⌈⌈n/2⌉/2⌉/n + …, which is (n−1)/n where n is a power of two.
//
// The last three are Open MPI 4.1's, with trees numbered as here (coll_base_topo.c).
//
// By default ring has as many segments as it takes hops to fill the pipeline, n − 2, so that it costs 2S.
//
// Source: R. Thakur, R. Rabenseifner, W. Gropp, Int. J. High Performance Computing Applications 19(1), 2005
// (binomial tree); J. Pješivac-Grbović et al., "Performance analysis of MPI collective operations", Cluster
// Computing 10(2), 2007 (linear, pipeline).

#include <algorithm>

#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/phases.hpp"

namespace ringside {
namespace {

bool more_than_two(const ScheduleRequest& request) { return request.num_ranks > 2; }

namespace naive {

ScheduleShape shape(const ScheduleRequest& request) { return {.num_rounds = request.num_ranks - 1}; }

void write_round(const ScheduleRequest& request, std::int64_t round, RoundWriter& writer) {
  writer.copy(request.root, wrapped(request.root + 1 + static_cast<int>(round), request.num_ranks), 0);
}

CriticalPath critical_path(const ScheduleRequest& request) {
  const double n = request.num_ranks;
  return {.messages = n - 1, .bytes = n - 1};
}

}  // namespace naive

namespace ring {

int num_segments(const ScheduleRequest& request) {
  return request.segments == 0 ? std::max(1, request.num_ranks - 2) : request.segments;
}

std::int64_t num_rounds(const ScheduleRequest& request) {
  const std::int64_t n = request.num_ranks;
  return n == 1 ? 0 : num_segments(request) + n - 2;
}

ScheduleShape shape(const ScheduleRequest& request) {
  return {.num_chunks = num_segments(request), .num_rounds = num_rounds(request)};
}

void write_round(const ScheduleRequest& request, std::int64_t round, RoundWriter& writer) {
  const int n = request.num_ranks;
  // Segment j makes hop h in round j + h.
  const std::int64_t first = std::max<std::int64_t>(0, round - num_segments(request) + 1);
  const std::int64_t last = std::min<std::int64_t>(n - 2, round);
  for (auto hop = static_cast<int>(first); hop <= last; ++hop) {
    writer.copy(wrapped(request.root + hop, n), wrapped(request.root + hop + 1, n),
                static_cast<std::int32_t>(round) - hop);
  }
}

CriticalPath critical_path(const ScheduleRequest& request) {
  const auto rounds = static_cast<double>(num_rounds(request));
  return {.messages = rounds, .bytes = rounds / num_segments(request)};
}

}  // namespace ring

namespace binomial_tree {

ScheduleShape shape(const ScheduleRequest& request) {
  return {.num_rounds = num_doublings(request.num_ranks)};
}

CriticalPath critical_path(const ScheduleRequest& request) {
  const double levels = num_doublings(request.num_ranks);
  return {.messages = levels, .bytes = levels};
}

}  // namespace binomial_tree

namespace binary_tree {

/// The level below which all others are.
int depth(const ScheduleRequest& request) { return num_doublings(request.num_ranks + 1) - 1; }

ScheduleShape shape(const ScheduleRequest& request) { return {.num_rounds = depth(request)}; }

/// Level l has 2^l ranks, counted from the root; each sends to those 2^l and 2^(l+1) further on.
void write_round(const ScheduleRequest& request, std::int64_t round, RoundWriter& writer) {
  const int n = request.num_ranks;
  const int size = 1 << round;
  for (int v = size - 1; v < 2 * size - 1; ++v) {
    for (const int child : {v + size, v + 2 * size}) {
      if (child < n) {
        writer.copy(wrapped(request.root + v, n), wrapped(request.root + child, n), 0);
      }
    }
  }
}

CriticalPath critical_path(const ScheduleRequest& request) {
  const double levels = depth(request);
  return {.messages = levels, .bytes = levels};
}

}  // namespace binary_tree

namespace knomial_tree {

int num_rounds(const ScheduleRequest& request) { return (num_doublings(request.num_ranks) + 1) / 2; }

ScheduleShape shape(const ScheduleRequest& request) { return {.num_rounds = num_rounds(request)}; }

void write_round(const ScheduleRequest& request, std::int64_t round, RoundWriter& writer) {
  const int n = request.num_ranks;
  const int distance = 1 << 2 * (num_rounds(request) - 1 - round);
  for (int v = 0; v < n; v += 4 * distance) {
    for (int child = v + distance; child < std::min(v + 4 * distance, n); child += distance) {
      writer.copy(wrapped(request.root + v, n), wrapped(request.root + child, n), 0);
    }
  }
}

CriticalPath critical_path(const ScheduleRequest& request) {
  const double rounds = num_rounds(request);
  return {.messages = rounds, .bytes = rounds};
}

}  // namespace knomial_tree

namespace scatter_all_gather {

ScheduleShape shape(const ScheduleRequest& request) {
  return {.num_chunks = request.num_ranks, .num_rounds = 2 * num_doublings(request.num_ranks)};
}

void write_round(const ScheduleRequest& request, std::int64_t round, RoundWriter& writer) {
  const int halvings = num_doublings(request.num_ranks);
  if (round < halvings) {
    write_interval_halving(request, round, writer);
  } else {
    write_interval_doubling(request, round - halvings, true, writer);
  }
}

CriticalPath critical_path(const ScheduleRequest& request) {
  const int n = request.num_ranks;
  return {.messages = 2.0 * num_doublings(n),
          .bytes = (chunks_of_intervals(n) + chunks_of_intervals(n, true)) / n};
}

bool several_at_once(const ScheduleRequest& request) { return Fold(request.num_ranks).excess() > 0; }

}  // namespace scatter_all_gather

}  // namespace

Algorithm naive_broadcast() {
  return {.name = "naive",
          .collective = Collective::broadcast,
          .summary = "the root sends everything to each rank in turn",
          .wins_when = "there are two ranks",
          .shape = naive::shape,
          .write_round = naive::write_round,
          .critical_path = naive::critical_path};
}

Algorithm ring_broadcast() {
  return {.name = "ring",
          .collective = Collective::broadcast,
          .summary = "a pipelined chain: segments travel from rank to rank, one behind the other",
          .wins_when = "messages are long and ranks not too many",
          .shape = ring::shape,
          .write_round = ring::write_round,
          .critical_path = ring::critical_path};
}

Algorithm binomial_tree_broadcast() {
  return {.name = "binomial_tree",
          .collective = Collective::broadcast,
          .summary = "in each round every rank that has the message sends it to one that has not",
          .wins_when = "messages are short",
          .shape = binomial_tree::shape,
          .write_round = write_binomial_broadcast,
          .critical_path = binomial_tree::critical_path};
}

Algorithm binary_tree_broadcast() {
  return {.name = "binary_tree",
          .collective = Collective::broadcast,
          .summary = "every rank that gets the message sends it to two more at once",
          .wins_when = "messages are short and ranks many",
          .shape = binary_tree::shape,
          .write_round = binary_tree::write_round,
          .critical_path = binary_tree::critical_path,
          .several_at_once = more_than_two};
}

Algorithm knomial_tree_broadcast() {
  return {.name = "knomial_tree",
          .collective = Collective::broadcast,
          .summary = "in each round every rank that has the message sends it to three at once",
          .wins_when = "messages are short and ranks many",
          .shape = knomial_tree::shape,
          .write_round = knomial_tree::write_round,
          .critical_path = knomial_tree::critical_path,
          .several_at_once = more_than_two};
}

Algorithm scatter_all_gather_broadcast() {
  return {.name = "scatter_all_gather",
          .collective = Collective::broadcast,
          .summary = "a scatter along a binomial tree, then an all_gather in log N rounds",
          .wins_when = "messages are long and ranks many",
          .shape = scatter_all_gather::shape,
          .write_round = scatter_all_gather::write_round,
          .critical_path = scatter_all_gather::critical_path,
          .several_at_once = scatter_all_gather::several_at_once};
}

}  // namespace ringside
