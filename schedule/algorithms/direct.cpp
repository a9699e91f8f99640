// direct (one-shot) all_reduce: every rank sends all of S to every other at once; each reduces what it gets.
//
//   messages in sequence   1
//   bytes in sequence      S: on private links the n−1 messages of a rank travel side by side
//   reduced in sequence    (n−1)·S
//   sent per rank          (n−1)·S
//   restriction            up to 2,048 ranks; a round has n(n−1) moves
//
// Source: the one-phase all-pairs all_reduce of A. Shah et al., "MSCCL++: rethinking GPU communication
// abstractions for cutting-edge AI applications", arXiv:2504.09014, 2025.

#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/phases.hpp"

namespace ringside {
namespace {

ScheduleShape shape(const ScheduleRequest& request) { return {.num_rounds = request.num_ranks > 1 ? 1 : 0}; }

void write_round(const ScheduleRequest& request, std::int64_t /*round*/, RoundWriter& writer) {
  for_each_pair(request.num_ranks, [&](Rank source, Rank target) { writer.reduce(source, target, 0); });
}

CriticalPath critical_path(const ScheduleRequest& request) {
  const double n = request.num_ranks;
  const double shots = n > 1 ? 1 : 0;
  return {.messages = shots, .bytes = shots, .reduced_bytes = n - 1};
}

bool several_at_once(const ScheduleRequest& request) { return request.num_ranks > 2; }

}  // namespace

Algorithm direct_all_reduce() {
  return {.name = "direct",
          .summary = "one shot: every rank sends everything to every other at once",
          .wins_when =
              "messages are short and every pair of ranks has a link of its own (NVLink through a switch)",
          .unsupported = too_many_pairs,
          .shape = shape,
          .write_round = write_round,
          .critical_path = critical_path,
          .several_at_once = several_at_once};
}

}  // namespace ringside
