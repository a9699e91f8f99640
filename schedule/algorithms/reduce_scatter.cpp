// reduce_scatter: the reduction of every rank's message, of which each rank gets its part, S/n.
//
//                          naive                ring        recursive_halving
//   messages in sequence   2(n−1)               n−1         log₂ n
//   bytes in sequence      ((n−1) + (n−1)/n)·S  (n−1)/n·S   (n−1)/n·S
//   reduced in sequence    (n−1)·S              (n−1)/n·S   (n−1)/n·S
//   sent per rank          S                    (n−1)/n·S   (n−1)/n·S
//   restriction            none                 none        n a power of two
//
// Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in
// MPICH", Int. J. High Performance Computing Applications 19(1), 2005. For other n they fold excess ranks
// with all of S; the ring does without.

#include <fmt/format.h>

#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/phases.hpp"

namespace ringside {
namespace {

namespace naive {

ScheduleShape shape(const ScheduleRequest& request) {
  return {.num_chunks = request.num_ranks, .num_rounds = 2 * (request.num_ranks - 1)};
}

/// A reduction to the root, then a scatter from it.
void write_round(const ScheduleRequest& request, std::int64_t round, RoundWriter& writer) {
  const int n = request.num_ranks;
  const bool reducing = round < n - 1;
  const int turn = static_cast<int>(reducing ? round : round - (n - 1));
  const Rank other = wrapped(request.root + 1 + turn, n);
  if (reducing) {
    writer.reduce(other, request.root, 0, n);
  } else {
    writer.copy(request.root, other, other);
  }
}

CriticalPath critical_path(const ScheduleRequest& request) {
  const double n = request.num_ranks;
  return {.messages = 2 * (n - 1), .bytes = (n - 1) + (n - 1) / n, .reduced_bytes = n - 1};
}

}  // namespace naive

namespace ring {

ScheduleShape shape(const ScheduleRequest& request) {
  return {.num_chunks = request.num_ranks, .num_rounds = request.num_ranks - 1};
}

void write_round(const ScheduleRequest& request, std::int64_t round, RoundWriter& writer) {
  write_ring_reduce_scatter({.size = request.num_ranks}, round, writer);
}

CriticalPath critical_path(const ScheduleRequest& request) {
  const double n = request.num_ranks;
  return {.messages = n - 1, .bytes = (n - 1) / n, .reduced_bytes = (n - 1) / n};
}

std::vector<RepeatedRounds> repeats(const ScheduleRequest& request) {
  return {{.first = 0, .times = request.num_ranks - 1, .passes_on = true}};
}

}  // namespace ring

namespace recursive_halving {

std::optional<std::string> unsupported(const ScheduleRequest& request) {
  if (Fold(request.num_ranks).excess() > 0) {
    return fmt::format("recursive_halving reduce_scatter needs a power of two of ranks, not {}",
                       request.num_ranks);
  }
  return std::nullopt;
}

ScheduleShape shape(const ScheduleRequest& request) {
  return {.num_chunks = request.num_ranks, .num_rounds = Fold(request.num_ranks).levels()};
}

void write_round(const ScheduleRequest& request, std::int64_t round, RoundWriter& writer) {
  write_recursive_halving(Fold(request.num_ranks), round, writer);
}

CriticalPath critical_path(const ScheduleRequest& request) {
  const double n = request.num_ranks;
  return {.messages = static_cast<double>(Fold(request.num_ranks).levels()),
          .bytes = (n - 1) / n,
          .reduced_bytes = (n - 1) / n};
}

}  // namespace recursive_halving

}  // namespace

Algorithm naive_reduce_scatter() {
  return {.name = "naive",
          .collective = Collective::reduce_scatter,
          .summary = "everything to the root, one rank after another, then each part to its rank",
          .wins_when = "never by much: with two ranks and short messages it is as good as any",
          .shape = naive::shape,
          .write_round = naive::write_round,
          .critical_path = naive::critical_path};
}

Algorithm ring_reduce_scatter() {
  return {.name = "ring",
          .collective = Collective::reduce_scatter,
          .summary = "parts travel around a ring and are reduced at each rank",
          .wins_when = "messages are long, for any number of ranks",
          .shape = ring::shape,
          .write_round = ring::write_round,
          .critical_path = ring::critical_path,
          .repeats = ring::repeats};
}

Algorithm recursive_halving_reduce_scatter() {
  return {.name = "recursive_halving",
          .collective = Collective::reduce_scatter,
          .summary = "log N exchanges of half of what is left between ranks at halving distances",
          .wins_when = "messages are short and ranks a power of two",
          .unsupported = recursive_halving::unsupported,
          .shape = recursive_halving::shape,
          .write_round = recursive_halving::write_round,
          .critical_path = recursive_halving::critical_path};
}

}  // namespace ringside
