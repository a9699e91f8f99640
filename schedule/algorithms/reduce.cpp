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

Outline ring(const ScheduleRequest& request) {
  const int n = request.num_ranks;
  const int segments = request.segments == 0 ? std::max(1, 2 * (n - 2)) : request.segments;
  // Rounds between a segment's coming and its going on. A single segment has nothing to hide behind.
  const int pace = segments == 1 ? 1 : 2;
  const std::int64_t rounds = n == 1 ? 0 : segments + pace * (n - std::int64_t{2});
  const auto write = [n, root = request.root, segments, pace](std::int64_t step, RoundWriter& round) {
    // Segment j makes hop h, from position n−1−h down to n−2−h, in round j + pace·h.
    const std::int64_t oldest_segment = step - segments + 1;
    const std::int64_t first = oldest_segment <= 0 ? 0 : (oldest_segment + pace - 1) / pace;
    const std::int64_t last = std::min<std::int64_t>(n - 2, step / pace);
    for (auto hop = static_cast<int>(first); hop <= last; ++hop) {
      round.reduce(wrapped(root + n - 1 - hop, n), wrapped(root + n - 2 - hop, n),
                   static_cast<std::int32_t>(step - std::int64_t{pace} * hop));
    }
  };
  const auto chunks = static_cast<double>(rounds);
  return {.num_chunks = segments,
          .phases = {{.num_rounds = rounds,
                      .chunks = chunks,
                      .reduced_chunks = pace == 1 ? chunks : std::min(chunks, 1.0),
                      .write = write}}};
}

}  // namespace

std::vector<Algorithm> reduces() {
  return {{.name = "naive",
           .summary = "every rank sends everything to the root, one after another",
           .wins_when = "there are two ranks",
           .outline = [](const ScheduleRequest& request) -> Outline {
             return {.phases = {linear_reduce(request)}};
           }},
          {.name = "ring",
           .summary = "a pipelined chain: segments travel toward the root and are reduced at each rank",
           .wins_when = "messages are long and ranks not too many",
           .outline = ring},
          {.name = "binomial_tree",
           .summary = "in each round half of the ranks that still hold a part send it to the other half",
           .wins_when = "messages are short",
           .outline = [](const ScheduleRequest& request) -> Outline {
             return {.phases = {binomial_reduce(request)}};
           }}};
}

}  // namespace ringside
