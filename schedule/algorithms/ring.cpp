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
namespace {

ScheduleShape shape(const ScheduleRequest& request) {
  return {.num_chunks = request.num_ranks, .num_rounds = 2 * (request.num_ranks - 1)};
}

void write_round(const ScheduleRequest& request, std::int64_t round, RoundWriter& writer) {
  const std::int64_t steps = request.num_ranks - 1;
  const Ring ring = {.size = request.num_ranks};
  if (round < steps) {
    write_ring_reduce_scatter(ring, round, writer);
  } else {
    write_ring_all_gather(ring, round - steps, writer);
  }
}

std::vector<RepeatedRounds> repeats(const ScheduleRequest& request) {
  const std::int64_t steps = request.num_ranks - 1;
  return {{.first = 0, .times = steps, .passes_on = true},
          {.first = steps, .times = steps, .passes_on = true}};
}

CriticalPath critical_path(const ScheduleRequest& request) {
  const double n = request.num_ranks;
  return {.messages = 2 * (n - 1), .bytes = 2 * (n - 1) / n, .reduced_bytes = (n - 1) / n};
}

}  // namespace

Algorithm ring_all_reduce() {
  return {
      .name = "ring",
      .summary = "reduce_scatter, then all_gather, around a ring on N chunks",
      .wins_when = "messages are long and the ranks not too many: no algorithm sends fewer bytes per rank",
      .shape = shape,
      .write_round = write_round,
      .critical_path = critical_path,
      .repeats = repeats};
}

}  // namespace ringside
