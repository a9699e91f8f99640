// circulating_ring all_reduce: whole messages travel around the ring, n−1 hops, reduced at each.
//
//   messages in sequence   n−1
//   bytes in sequence      (n−1)·S, half of naive's and n/2 times the chunked ring's
//   reduced in sequence    (n−1)·S
//   sent per rank          (n−1)·S
//   restriction            none
//
// Source: the `allreduce` of PyTorch's tutorial "Writing Distributed Applications with PyTorch" (S. Arnold),
// with its accum, send_buff and recv_buff as buffers 0 to 2.

#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/phases.hpp"

namespace ringside {
Algorithm circulating_ring_all_reduce() {
  return {.name = "circulating_ring",
          .summary =
              "the ring of PyTorch's tutorial: the whole message circulates once and is reduced at each hop",
          .wins_when = "never beside ring: every hop carries the whole message instead of a chunk",
          .outline = [](const ScheduleRequest& request) -> Outline {
            return {.num_buffers = kCirculationBuffers, .phases = {circulation(request.num_ranks)}};
          }};
}

}  // namespace ringside
