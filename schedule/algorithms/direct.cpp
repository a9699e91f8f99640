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

Outline outline(const ScheduleRequest& request) {
  const int n = request.num_ranks;
  const auto write = [n](std::int64_t /*step*/, RoundWriter& round) {
    for_each_pair(n, [&](Rank source, Rank target) { round.reduce(source, target, 0); });
  };
  return {.phases = {{.num_rounds = n > 1 ? 1 : 0,
                      .chunks = n > 1 ? 1.0 : 0,
                      .reduced_chunks = n - 1.0,
                      .write = write,
                      .several_at_once = n > 2}}};
}

}  // namespace

Algorithm direct_all_reduce() {
  return {.name = "direct",
          .summary = "one shot: every rank sends everything to every other at once",
          .wins_when =
              "messages are short and every pair of ranks has a link of its own (NVLink through a switch)",
          .unsupported = too_many_pairs,
          .outline = outline};
}

}  // namespace ringside
