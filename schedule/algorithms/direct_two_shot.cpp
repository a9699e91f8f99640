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

Outline outline(const ScheduleRequest& request) {
  const int n = request.num_ranks;
  const auto write = [n](std::int64_t step, RoundWriter& round) {
    for_each_pair(n, [&](Rank source, Rank target) {
      if (step == 0) {
        round.reduce(source, target, target);
      } else {
        round.copy(source, target, source);
      }
    });
  };
  return {.num_chunks = n,
          .phases = {{.num_rounds = n > 1 ? 2 : 0,
                      .chunks = n > 1 ? 2.0 : 0,
                      .reduced_chunks = n - 1.0,
                      .write = write,
                      .several_at_once = n > 2}}};
}

}  // namespace

Algorithm direct_two_shot_all_reduce() {
  return {
      .name = "direct_two_shot",
      .summary = "two shots: a direct reduce_scatter, then a direct all_gather, each all at once",
      .wins_when = "every pair of ranks has a link of its own: two messages in sequence, and all links busy",
      .unsupported = too_many_pairs,
      .outline = outline};
}

}  // namespace ringside
