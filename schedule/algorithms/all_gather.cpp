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

namespace naive {

ScheduleShape shape(const ScheduleRequest& request) {
  return {.num_chunks = request.num_ranks, .num_rounds = 2 * (request.num_ranks - 1)};
}

/// A gather to the root, then a broadcast of everything from it.
void write_round(const ScheduleRequest& request, std::int64_t round, RoundWriter& writer) {
  const int n = request.num_ranks;
  const bool gathering = round < n - 1;
  const int turn = static_cast<int>(gathering ? round : round - (n - 1));
  const Rank other = wrapped(request.root + 1 + turn, n);
  if (gathering) {
    writer.copy(other, request.root, other);
  } else {
    writer.copy(request.root, other, 0, n);
  }
}

CriticalPath critical_path(const ScheduleRequest& request) {
  const double n = request.num_ranks;
  return {.messages = 2 * (n - 1), .bytes = (n - 1) / n + (n - 1)};
}

}  // namespace naive

namespace ring {

ScheduleShape shape(const ScheduleRequest& request) {
  return {.num_chunks = request.num_ranks, .num_rounds = request.num_ranks - 1};
}

void write_round(const ScheduleRequest& request, std::int64_t round, RoundWriter& writer) {
  write_ring_all_gather({.size = request.num_ranks}, round, writer);
}

CriticalPath critical_path(const ScheduleRequest& request) {
  const double n = request.num_ranks;
  return {.messages = n - 1, .bytes = (n - 1) / n};
}

std::vector<RepeatedRounds> repeats(const ScheduleRequest& request) {
  return {{.first = 0, .times = request.num_ranks - 1, .passes_on = true}};
}

}  // namespace ring

namespace recursive_doubling {

ScheduleShape shape(const ScheduleRequest& request) {
  return {.num_chunks = request.num_ranks, .num_rounds = num_doublings(request.num_ranks)};
}

void write_round(const ScheduleRequest& request, std::int64_t round, RoundWriter& writer) {
  write_interval_doubling({.num_ranks = request.num_ranks}, round, false, writer);
}

CriticalPath critical_path(const ScheduleRequest& request) {
  const int n = request.num_ranks;
  return {.messages = static_cast<double>(num_doublings(n)), .bytes = chunks_of_intervals(n) / n};
}

bool several_at_once(const ScheduleRequest& request) { return Fold(request.num_ranks).excess() > 0; }

}  // namespace recursive_doubling

namespace neighbour_exchange {

std::optional<std::string> unsupported(const ScheduleRequest& request) {
  if (request.num_ranks > 1 && request.num_ranks % 2 != 0) {
    return fmt::format("neighbour_exchange needs an even number of ranks, not {}", request.num_ranks);
  }
  return std::nullopt;
}

ScheduleShape shape(const ScheduleRequest& request) {
  return {.num_chunks = request.num_ranks, .num_rounds = request.num_ranks / 2};
}

/// First the two ranks of a pair exchange their own chunks, then each has two neighbours in turn, to which it
/// sends the pair of chunks that came last.
void write_round(const ScheduleRequest& request, std::int64_t round, RoundWriter& writer) {
  const int n = request.num_ranks;
  const int pairs = n / 2;
  const int turn = static_cast<int>(round);
  for (Rank rank = 0; rank < n; ++rank) {
    if (turn == 0) {
      writer.copy(rank, rank ^ 1, rank);
      continue;
    }
    // An even rank meets the one before it in odd turns; an odd rank mirrors that.
    const int side = rank % 2 == 0 ? 1 : -1;
    const Rank partner = turn % 2 != 0 ? wrapped(rank - side, n) : rank ^ 1;
    const int sent = turn % 2 != 0 ? (turn - 1) / 2 : -turn / 2;
    writer.copy(rank, partner, 2 * wrapped(rank / 2 + side * sent, pairs), 2);
  }
}

CriticalPath critical_path(const ScheduleRequest& request) {
  const double n = request.num_ranks;
  return {.messages = static_cast<double>(request.num_ranks / 2), .bytes = (n - 1) / n};
}

}  // namespace neighbour_exchange

}  // namespace

Algorithm naive_all_gather() {
  return {.name = "naive",
          .collective = Collective::all_gather,
          .summary = "every part to the root, one after another, then everything to each rank in turn",
          .wins_when = "never by much: with two ranks and short messages it is as good as any",
          .shape = naive::shape,
          .write_round = naive::write_round,
          .critical_path = naive::critical_path};
}

Algorithm ring_all_gather() {
  return {.name = "ring",
          .collective = Collective::all_gather,
          .summary = "every rank passes parts on around a ring",
          .wins_when = "messages are long, for any number of ranks",
          .shape = ring::shape,
          .write_round = ring::write_round,
          .critical_path = ring::critical_path,
          .repeats = ring::repeats};
}

Algorithm recursive_doubling_all_gather() {
  return {.name = "recursive_doubling",
          .collective = Collective::all_gather,
          .summary = "log N exchanges of all that is there between ranks at doubling distances",
          .wins_when = "messages are short",
          .shape = recursive_doubling::shape,
          .write_round = recursive_doubling::write_round,
          .critical_path = recursive_doubling::critical_path,
          .several_at_once = recursive_doubling::several_at_once};
}

Algorithm neighbour_exchange_all_gather() {
  return {.name = "neighbour_exchange",
          .collective = Collective::all_gather,
          .summary = "pairs exchange two parts with the neighbours on either side in turn",
          .wins_when = "messages are long and a ring has too many of them",
          .unsupported = neighbour_exchange::unsupported,
          .shape = neighbour_exchange::shape,
          .write_round = neighbour_exchange::write_round,
          .critical_path = neighbour_exchange::critical_path};
}

}  // namespace ringside
