// all_to_all: every message in n parts, the j-th to rank j. S is what a rank sends (and gets); the buffer of
// a
// schedule holds those of all ranks, n·S, and the part from rank i to rank j is its chunk i·n + j.
//
//                          naive     pairwise    direct
//   messages in sequence   n         n−1         1
//   bytes in sequence      S         (n−1)/n·S   S/n: on private links a rank's messages travel side by side
//   sent per rank          (n−1)/n·S in each
//   restriction            none; a round of direct has n(n−1) moves
//
// Source: J. Bruck et al., "Efficient algorithms for all-to-all communications in multiport message-passing
// systems", IEEE TPDS 8(11), 1997 (pairwise, as MPICH has it for long messages); NCCL's all_to_all is direct.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/phases.hpp"

namespace ringside {
namespace {

std::optional<std::string> unsupported(const ScheduleRequest& request) {
  const std::int64_t parts = std::int64_t{request.num_ranks} * request.num_ranks;
  if (parts > std::numeric_limits<std::int32_t>::max()) {
    return fmt::format(
        "all_to_all of {} ranks has {} parts, more than can be counted; take up to 46,340 ranks",
        request.num_ranks, parts);
  }
  return std::nullopt;
}

/// `pairs(step, n, send)` calls `send(source, target)` for the pairs of a round.
template <typename Pairs>
Outline of_rounds(int n, std::int64_t num_rounds, bool several_at_once, const Pairs& pairs) {
  const auto write = [n, pairs](std::int64_t step, RoundWriter& round) {
    pairs(static_cast<int>(step), n,
          [&](Rank source, Rank target) { round.copy(source, target, source * n + target); });
  };
  const std::int64_t rounds = n > 1 ? num_rounds : 0;
  return {.num_chunks = n * n, .phases = {chunk_by_chunk(rounds, write, several_at_once && n > 2)}};
}

/// A loop over the targets: in round t everybody sends to rank t.
Outline naive(const ScheduleRequest& request) {
  const int n = request.num_ranks;
  return of_rounds(n, n, true, [](Rank target, int ranks, const auto& send) {
    for (Rank source = 0; source < ranks; ++source) {
      if (source != target) {
        send(source, target);
      }
    }
  });
}

/// In round t every rank sends to the one t + 1 behind it.
Outline pairwise(const ScheduleRequest& request) {
  const int n = request.num_ranks;
  return of_rounds(n, n - 1, false,
                   [](int step, int ranks, const auto& send) { for_each_at(step + 1, ranks, send); });
}

Outline direct(const ScheduleRequest& request) {
  return of_rounds(request.num_ranks, 1, true,
                   [](int /*step*/, int ranks, const auto& send) { for_each_pair(ranks, send); });
}

}  // namespace

std::vector<Algorithm> all_to_alls() {
  return {{.name = "naive",
           .summary = "a loop over the targets: everybody sends to rank 0, then to rank 1, and so on",
           .wins_when = "never: all senders share the port of one target",
           .unsupported = unsupported,
           .outline = naive},
          {.name = "pairwise",
           .summary = "in round t every rank sends to the one t behind it and gets from the one t before it",
           .wins_when = "messages are long: every port is busy in both directions all the time",
           .unsupported = unsupported,
           .outline = pairwise},
          {.name = "direct",
           .summary = "every rank sends every other its part at once",
           .wins_when = "messages are short, or every pair of ranks has a link of its own",
           .unsupported = too_many_pairs,
           .outline = direct}};
}

}  // namespace ringside
