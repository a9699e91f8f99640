// all_gather: every rank's part of the message, S/n, to every rank.
//
//                          naive                ring        recursive_doubling
//   messages in sequence   2(n−1)               n−1         log₂ n
//   bytes in sequence      ((n−1)/n + (n−1))·S  (n−1)/n·S   (n−1)/n·S
//   sent per rank          root (n−1)·S         (n−1)/n·S   (n−1)/n·S
//   restriction            none                 none        n a power of two
//
// Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in
// MPICH", Int. J. High Performance Computing Applications 19(1), 2005. Doubling: powers of two.

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

std::optional<std::string> unsupported(const ScheduleRequest& request) {
  if (Fold(request.num_ranks).excess() > 0) {
    return fmt::format("recursive_doubling all_gather needs a power of two of ranks, not {}",
                       request.num_ranks);
  }
  return std::nullopt;
}

ScheduleShape shape(const ScheduleRequest& request) {
  return {.num_chunks = request.num_ranks, .num_rounds = Fold(request.num_ranks).levels()};
}

void write_round(const ScheduleRequest& request, std::int64_t round, RoundWriter& writer) {
  write_recursive_doubling(Fold(request.num_ranks), round, writer);
}

CriticalPath critical_path(const ScheduleRequest& request) {
  const double n = request.num_ranks;
  return {.messages = static_cast<double>(Fold(request.num_ranks).levels()), .bytes = (n - 1) / n};
}

}  // namespace recursive_doubling

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
          .wins_when = "messages are short and ranks a power of two",
          .unsupported = recursive_doubling::unsupported,
          .shape = recursive_doubling::shape,
          .write_round = recursive_doubling::write_round,
          .critical_path = recursive_doubling::critical_path};
}

}  // namespace ringside
