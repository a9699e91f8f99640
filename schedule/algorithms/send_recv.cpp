// send_recv: every rank's message to the next one, all at once, as sendrecv_perf of nccl-tests. S is one
// rank's message; a schedule's buffer holds all, n·S, and chunk i is rank i's.
//
//                          direct
//   messages in sequence   1
//   bytes in sequence      S
//   sent per rank          S
//   restriction            none
//
// Source: MPI_Sendrecv on a ring of ranks (the Message Passing Interface standard 4.0, §3.10).

#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/phases.hpp"

namespace ringside {
namespace {

ScheduleShape shape(const ScheduleRequest& request) {
  return {.num_chunks = request.num_ranks, .num_rounds = request.num_ranks > 1 ? 1 : 0};
}

void write_round(const ScheduleRequest& request, std::int64_t /*round*/, RoundWriter& writer) {
  for (Rank source = 0; source < request.num_ranks; ++source) {
    writer.copy(source, wrapped(source + 1, request.num_ranks), source);
  }
}

CriticalPath critical_path(const ScheduleRequest& request) {
  const double n = request.num_ranks;
  return n > 1 ? CriticalPath{.messages = 1, .bytes = 1 / n} : CriticalPath{};
}

}  // namespace

Algorithm direct_send_recv() {
  return {.name = "direct",
          .collective = Collective::send_recv,
          .summary = "every rank sends its message to the next one and gets the previous one's",
          .wins_when = "always: there is nothing to save",
          .shape = shape,
          .write_round = write_round,
          .critical_path = critical_path};
}

}  // namespace ringside
