// direct_two_shot all_reduce: every rank sends to every other the chunk that the other is to reduce, all at
// once, and then its own reduced chunk to every other, all at once.
//
//   messages in sequence   2
//   bytes in sequence      2/n·S: on private links the n−1 messages of a rank travel side by side
//   reduced in sequence    (n−1)/n·S
//   sent per rank          2(n−1)/n·S
//   restriction            up to 2,048 ranks; a round has n(n−1) moves
//
// Source: the two-phase all-pairs all_reduce of A. Shah et al., "MSCCL++: rethinking GPU communication
// abstractions for cutting-edge AI applications", arXiv:2504.09014, 2025.

#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/phases.hpp"

namespace ringside {
namespace {

ScheduleShape shape(const ScheduleRequest& request) {
  return {.num_chunks = request.num_ranks, .num_rounds = request.num_ranks > 1 ? 2 : 0};
}

void write_round(const ScheduleRequest& request, std::int64_t round, RoundWriter& writer) {
  for_each_pair(request.num_ranks, [&](Rank source, Rank target) {
    if (round == 0) {
      writer.reduce(source, target, target);
    } else {
      writer.copy(source, target, source);
    }
  });
}

CriticalPath critical_path(const ScheduleRequest& request) {
  const double n = request.num_ranks;
  const double shots = n > 1 ? 2 : 0;
  return {.messages = shots, .bytes = shots / n, .reduced_bytes = (n - 1) / n};
}

bool several_at_once(const ScheduleRequest& request) { return request.num_ranks > 2; }

}  // namespace

Algorithm direct_two_shot_all_reduce() {
  return {
      .name = "direct_two_shot",
      .summary = "two shots: a direct reduce_scatter, then a direct all_gather, each all at once",
      .wins_when = "every pair of ranks has a link of its own: two messages in sequence, and all links busy",
      .unsupported = too_many_pairs,
      .shape = shape,
      .write_round = write_round,
      .critical_path = critical_path,
      .several_at_once = several_at_once};
}

}  // namespace ringside
