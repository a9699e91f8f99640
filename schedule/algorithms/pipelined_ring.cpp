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

int num_segments(const ScheduleRequest& request) {
  return request.segments == 0 ? kDefaultSegments : request.segments;
}

std::optional<std::string> unsupported(const ScheduleRequest& request) {
  return too_many_segments(request.num_ranks, request.segments);
}

ScheduleShape shape(const ScheduleRequest& request) {
  const std::int64_t n = request.num_ranks;
  const int segments = num_segments(request);
  return {.num_chunks = request.num_ranks * segments, .num_rounds = 2 * (n - 1) * segments};
}

void write_round(const ScheduleRequest& request, std::int64_t round, RoundWriter& writer) {
  const int segments = num_segments(request);
  const std::int64_t steps = request.num_ranks - 1;
  const std::int64_t step = round / segments;
  const Ring ring = {.size = request.num_ranks,
                     .first_chunk = static_cast<std::int32_t>(round % segments),
                     .chunk_stride = segments};
  if (step < steps) {
    write_ring_reduce_scatter(ring, step, writer);
  } else {
    write_ring_all_gather(ring, step - steps, writer);
  }
}

std::vector<RepeatedRounds> repeats(const ScheduleRequest& request) {
  const std::int64_t rounds = (request.num_ranks - std::int64_t{1}) * num_segments(request);
  return {{.first = 0, .times = rounds}, {.first = rounds, .times = rounds}};
}

CriticalPath critical_path(const ScheduleRequest& request) {
  const double n = request.num_ranks;
  const int segments = num_segments(request);
  return {.messages = 2 * (n - 1) * segments,
          .bytes = 2 * (n - 1) / n,
          .reduced_bytes = segments == 1 ? (n - 1) / n : 0};
}

}  // namespace

Algorithm pipelined_ring_all_reduce() {
  return {.name = "pipelined_ring",
          .summary = "a ring on chunks cut into segments, which are reduced while the next ones travel",
          .wins_when = "messages are long and reducing takes time that matters beside sending",
          .unsupported = unsupported,
          .shape = shape,
          .write_round = write_round,
          .critical_path = critical_path,
          .repeats = repeats};
}

}  // namespace ringside
