// ring all_reduce: reduce_scatter, then all_gather, both around a ring on n chunks.
//
//   messages in sequence   2(n−1)
//   bytes in sequence      2(n−1)/n·S, the least that any all_reduce can send per rank
//   reduced in sequence    (n−1)/n·S
//   sent per rank          2(n−1)/n·S
//   restriction            none
//
// A chunk is reduced before it travels on, so reductions are on the critical path; pipelined_ring hides them.
//
// Source: P. Patarasuk, X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations",
// Journal of Parallel and Distributed Computing 69(2), 2009.

#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/phases.hpp"

namespace ringside {
Algorithm ring_all_reduce() {
  return {
      .name = "ring",
      .summary = "reduce_scatter, then all_gather, around a ring on N chunks",
      .wins_when = "messages are long and the ranks not too many: no algorithm sends fewer bytes per rank",
      .outline = [](const ScheduleRequest& request) -> Outline {
        const Ring ring = {.size = request.num_ranks};
        return {.num_chunks = request.num_ranks,
                .phases = {ring_reduce_scatter(ring), ring_all_gather(ring)}};
      }};
}

}  // namespace ringside
