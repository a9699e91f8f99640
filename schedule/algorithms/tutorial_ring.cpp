// tutorial_ring all_reduce: the ring with two full loops that exercises ask for. Whole messages travel around
// the ring in a second buffer: n−1 times a hop and a local reduction, then n−1 hops of the result.
//
//   messages in sequence   2(n−1)
//   bytes in sequence      2(n−1)·S, as many as naive: without chunks a ring saves nothing
//   reduced in sequence    (n−1)·S
//   sent per rank          2(n−1)·S
//   restriction            none
//
// The second half is redundant: after n−1 hops every accumulator holds every contribution, as the proof says.
//
// Source: circulating_ring, then the second loop, "all_gather", of the chunked ring. Exercises that
// describe a ring as reduce_scatter and all_gather are often solved like this, without the chunks.

#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/phases.hpp"

namespace ringside {
Algorithm tutorial_ring_all_reduce() {
  return {
      .name = "tutorial_ring",
      .summary = "the ring that exercises write: the whole message circulates, to reduce and then to copy",
      .wins_when = "never: it is a ring without the chunks that make a ring fast",
      .outline = [](const ScheduleRequest& request) -> Outline {
        return {.num_buffers = kCirculationBuffers,
                .phases = {circulation(request.num_ranks), circulating_copy(request.num_ranks)}};
      }};
}

}  // namespace ringside
