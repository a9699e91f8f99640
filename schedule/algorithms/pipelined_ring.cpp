// pipelined_ring all_reduce: a ring whose n chunks are cut into s segments each, so that a segment is reduced
// while the next one travels.
//
//   messages in sequence   2(n−1)·s
//   bytes in sequence      2(n−1)/n·S
//   reduced in sequence    0 for s >= 2: every reduction hides behind a transfer; (n−1)/n·S for s = 1
//   sent per rank          2(n−1)/n·S
//   reduced per rank       (n−1)/n·S
//   restriction            none
//
// Assumes γ <= β, that is that a segment is reduced no slower than it travels. Two segments, the default, are
// enough to hide every reduction; more only cost latency.
//
// Source: the ring of Patarasuk and Yuan (2009) with the segments of R. Thakur, R. Rabenseifner, W. Gropp,
// "Optimization of collective communication operations in MPICH", Int. J. High Performance Computing
// Applications 19(1), 2005; libraries such as NCCL and Gloo cut their rings in the same way.

#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/phases.hpp"

namespace ringside {
namespace {

constexpr int kDefaultSegments = 2;

std::optional<std::string> unsupported(const ScheduleRequest& request) {
  return too_many_segments(request.num_ranks, request.segments);
}

Outline outline(const ScheduleRequest& request) {
  const int segments = request.segments == 0 ? kDefaultSegments : request.segments;
  const Ring ring = {.size = request.num_ranks, .chunk_stride = segments, .segments = segments};
  return {.num_chunks = request.num_ranks * segments,
          .phases = {ring_reduce_scatter(ring), ring_all_gather(ring)}};
}

}  // namespace

Algorithm pipelined_ring_all_reduce() {
  return {.name = "pipelined_ring",
          .summary = "a ring on chunks cut into segments, which are reduced while the next ones travel",
          .wins_when = "messages are long and reducing takes time that matters beside sending",
          .unsupported = unsupported,
          .outline = outline};
}

}  // namespace ringside
