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

Outline ring(const ScheduleRequest& request) {
  const int n = request.num_ranks;
  const int segments = request.segments == 0 ? std::max(1, n - 2) : request.segments;
  const std::int64_t rounds = n == 1 ? 0 : segments + std::int64_t{n} - 2;
  const auto write = [n, root = request.root, segments](std::int64_t step, RoundWriter& round) {
    // Segment j makes hop h in round j + h.
    const std::int64_t first = std::max<std::int64_t>(0, step - segments + 1);
    const std::int64_t last = std::min<std::int64_t>(n - 2, step);
    for (auto hop = static_cast<int>(first); hop <= last; ++hop) {
      round.copy(wrapped(root + hop, n), wrapped(root + hop + 1, n), static_cast<std::int32_t>(step) - hop);
    }
  };
  return {.num_chunks = segments, .phases = {chunk_by_chunk(rounds, write)}};
}

/// Level l has 2^l ranks, counted from the root; each sends to those 2^l and 2^(l+1) further on.
Outline binary_tree(const ScheduleRequest& request) {
  const int n = request.num_ranks;
  const int depth = num_doublings(n + 1) - 1;
  const auto write = [n, root = request.root](std::int64_t step, RoundWriter& round) {
    const int size = 1 << step;
    for (int v = size - 1; v < 2 * size - 1; ++v) {
      for (const int child : {v + size, v + 2 * size}) {
        if (child < n) {
          round.copy(wrapped(root + v, n), wrapped(root + child, n), 0);
        }
      }
    }
  };
  return {.phases = {chunk_by_chunk(depth, write, n > 2)}};
}

Outline knomial_tree(const ScheduleRequest& request) {
  const int n = request.num_ranks;
  const int rounds = (num_doublings(n) + 1) / 2;
  const auto write = [n, root = request.root, rounds](std::int64_t step, RoundWriter& round) {
    const int distance = 1 << 2 * (rounds - 1 - step);
    for (int v = 0; v < n; v += 4 * distance) {
      for (int child = v + distance; child < std::min(v + 4 * distance, n); child += distance) {
        round.copy(wrapped(root + v, n), wrapped(root + child, n), 0);
      }
    }
  };
  return {.phases = {chunk_by_chunk(rounds, write, n > 2)}};
}

}  // namespace

std::vector<Algorithm> broadcasts() {
  return {{.name = "naive",
           .summary = "the root sends everything to each rank in turn",
           .wins_when = "there are two ranks",
           .outline = [](const ScheduleRequest& request) -> Outline {
             return {.phases = {linear_broadcast(request)}};
           }},
          {.name = "ring",
           .summary = "a pipelined chain: segments travel from rank to rank, one behind the other",
           .wins_when = "messages are long and ranks not too many",
           .outline = ring},
          {.name = "binomial_tree",
           .summary = "in each round every rank that has the message sends it to one that has not",
           .wins_when = "messages are short",
           .outline = [](const ScheduleRequest& request) -> Outline {
             return {.phases = {binomial_broadcast(request)}};
           }},
          {.name = "binary_tree",
           .summary = "every rank that gets the message sends it to two more at once",
           .wins_when = "messages are short and ranks many",
           .outline = binary_tree},
          {.name = "knomial_tree",
           .summary = "in each round every rank that has the message sends it to three at once",
           .wins_when = "messages are short and ranks many",
           .outline = knomial_tree},
          {.name = "scatter_all_gather",
           .summary = "a scatter along a binomial tree, then an all_gather in log N rounds",
           .wins_when = "messages are long and ranks many",
           .outline = [](const ScheduleRequest& request) -> Outline {
             const int n = request.num_ranks;
             return {.num_chunks = n,
                     .phases = {interval_halving(n, request.root), interval_doubling(n, request.root, true)}};
           }}};
}

}  // namespace ringside
