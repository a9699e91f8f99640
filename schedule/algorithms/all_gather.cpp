// all_gather: every rank's part of the message, S/n, to every rank. C/n is ⌈n/2⌉/n + ⌈⌈n/2⌉/2⌉/n + …, which
// is (n−1)/n where n is a power of two.
//
//                          naive                ring        recursive_doubling  neighbour_exchange
//   messages in sequence   2(n−1)               n−1         ⌈log₂ n⌉            n/2
//   bytes in sequence      ((n−1)/n + (n−1))·S  (n−1)/n·S   C/n·S               (n−1)/n·S
//   sent per rank          root (n−1)·S         (n−1)/n·S   C/n·S               (n−1)/n·S
//   restriction            none                 none        none                n even
//
// Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in
// MPICH", Int. J. High Performance Computing Applications 19(1), 2005: doubling for powers of two; for others
// they have Bruck's, which takes as many messages. J. Chen et al., "Performance evaluation of allgather
// algorithms on terascale Linux cluster with Fast Ethernet", HPC Asia 2005 (neighbour exchange).

#include <fmt/format.h>

#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/phases.hpp"

namespace ringside {
namespace {

std::optional<std::string> odd(const ScheduleRequest& request) {
  if (request.num_ranks > 1 && request.num_ranks % 2 != 0) {
    return fmt::format("neighbour_exchange needs an even number of ranks, not {}", request.num_ranks);
  }
  return std::nullopt;
}

/// First the two ranks of a pair exchange their own chunks, then each has two neighbours in turn, to which it
/// sends the pair of chunks that came last.
Outline neighbour_exchange(const ScheduleRequest& request) {
  const int n = request.num_ranks;
  const int pairs = n / 2;
  const auto write = [n, pairs](std::int64_t step, RoundWriter& round) {
    const int turn = static_cast<int>(step);
    for (Rank rank = 0; rank < n; ++rank) {
      if (turn == 0) {
        round.copy(rank, rank ^ 1, rank);
        continue;
      }
      // An even rank meets the one before it in odd turns; an odd rank mirrors that.
      const int side = rank % 2 == 0 ? 1 : -1;
      const Rank partner = turn % 2 != 0 ? wrapped(rank - side, n) : rank ^ 1;
      const int sent = turn % 2 != 0 ? (turn - 1) / 2 : -turn / 2;
      round.copy(rank, partner, 2 * wrapped(rank / 2 + side * sent, pairs), 2);
    }
  };
  return {.num_chunks = n, .phases = {{.num_rounds = pairs, .chunks = n - 1.0, .write = write}}};
}

}  // namespace

std::vector<Algorithm> all_gathers() {
  return {{.name = "naive",
           .summary = "every part to the root, one after another, then everything to each rank in turn",
           .wins_when = "never by much: with two ranks and short messages it is as good as any",
           .outline = [](const ScheduleRequest& request) -> Outline {
             const int n = request.num_ranks;
             return {.num_chunks = n, .phases = {linear_gather(request), linear_broadcast(request, n)}};
           }},
          {.name = "ring",
           .summary = "every rank passes parts on around a ring",
           .wins_when = "messages are long, for any number of ranks",
           .outline = [](const ScheduleRequest& request) -> Outline {
             const int n = request.num_ranks;
             return {.num_chunks = n, .phases = {ring_all_gather({.size = n})}};
           }},
          {.name = "recursive_doubling",
           .summary = "log N exchanges of all that is there between ranks at doubling distances",
           .wins_when = "messages are short",
           .outline = [](const ScheduleRequest& request) -> Outline {
             const int n = request.num_ranks;
             return {.num_chunks = n, .phases = {interval_doubling(n)}};
           }},
          {.name = "neighbour_exchange",
           .summary = "pairs exchange two parts with the neighbours on either side in turn",
           .wins_when = "messages are long and a ring has too many of them",
           .unsupported = odd,
           .outline = neighbour_exchange}};
}

}  // namespace ringside
