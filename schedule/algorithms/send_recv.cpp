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

Outline outline(const ScheduleRequest& request) {
  const int n = request.num_ranks;
  const auto write = [n](std::int64_t /*step*/, RoundWriter& round) {
    for_each_at(1, n, [&](Rank source, Rank target) { round.copy(source, target, source); });
  };
  return {.num_chunks = n, .phases = {chunk_by_chunk(n > 1 ? 1 : 0, write)}};
}

}  // namespace

std::vector<Algorithm> send_recvs() {
  return {{.name = "direct",
           .summary = "every rank sends its message to the next one and gets the previous one's",
           .wins_when = "always: there is nothing to save",
           .outline = outline}};
}

}  // namespace ringside
