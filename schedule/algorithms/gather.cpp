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

/// Everybody passes on what came in the round before; counted from the root, v sends the part of v + round.
Outline ring(const ScheduleRequest& request) {
  const int n = request.num_ranks;
  const auto write = [n, root = request.root](std::int64_t step, RoundWriter& round) {
    for (int v = 1; v + step < n; ++v) {
      round.copy(wrapped(root + v, n), wrapped(root + v - 1, n),
                 wrapped(root + v + static_cast<int>(step), n));
    }
  };
  return {.num_chunks = n, .phases = {chunk_by_chunk(n - 1, write)}};
}

/// Intervals of 2^round ranks merge in pairs. The first rank of an interval has all its parts, or the root
/// where the root is in it: so the parts that move are neighbours, whichever rank is the root.
Outline binomial_tree(const ScheduleRequest& request) {
  const int n = request.num_ranks;
  const int levels = num_doublings(n);
  const auto write = [n, root = request.root](std::int64_t step, RoundWriter& round) {
    const int half = 1 << step;
    for (int left = 0; left + half < n; left += 2 * half) {
      const int right = left + half;
      const int end = std::min(right + half, n);
      if (root >= right && root < end) {
        round.copy(left, root, left, half);
      } else {
        const bool root_in_left = root >= left && root < right;
        round.copy(right, root_in_left ? root : left, right, end - right);
      }
    }
  };
  // Only the last pair of intervals can be unequal: the left one is full, and its sequence is the longest on
  // either side.
  const int half = levels == 0 ? 1 : 1 << (levels - 1);
  const int last = request.root < half ? n - half : half;
  return {.num_chunks = n, .phases = {{.num_rounds = levels, .chunks = half - 1.0 + last, .write = write}}};
}

}  // namespace

std::vector<Algorithm> gathers() {
  return {{.name = "naive",
           .summary = "every rank sends its part to the root, one after another",
           .wins_when = "messages are long: the root must receive everything in any case",
           .outline = [](const ScheduleRequest& request) -> Outline {
             return {.num_chunks = request.num_ranks, .phases = {linear_gather(request)}};
           }},
          {.name = "ring",
           .summary = "a chain: every rank passes parts on toward the root",
           .wins_when = "only neighbours are connected well",
           .outline = ring},
          {.name = "binomial_tree",
           .summary = "in each round the intervals of ranks whose parts are together double",
           .wins_when = "messages are short",
           .outline = binomial_tree}};
}

}  // namespace ringside
