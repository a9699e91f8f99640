// reduce_scatter: the reduction of every rank's message, of which each rank gets its part, S/n. ℓ = ⌊log₂ n⌋,
// F = 1 unless n is a power of two, and B = 1 for n > 2.
//
//                          naive                ring, pairwise  recursive_halving    butterfly
//   messages in sequence   2(n−1)               n−1             ℓ + 2F               ℓ + F + B
//   bytes in sequence      ((n−1) + (n−1)/n)·S  (n−1)/n·S       (n−1)/n·S for F = 0  the same + B/n·S
//   reduced in sequence    (n−1)·S              (n−1)/n·S       (n−1)/n·S for F = 0  the same
//   sent per rank          S                    (n−1)/n·S       (n−1)/n·S for F = 0  the same + B/n·S
//   restriction            none                 none            none                 none
//
// Where n is no power of two, excess ranks fold all of S into a neighbour first and get their part last.
//
// Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in
// MPICH", Int. J. High Performance Computing Applications 19(1), 2005; the butterfly is that of Open MPI 4.1
// (coll_base_reduce_scatter.c).

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

namespace pairwise {

/// In round t every rank gives the one t + 1 behind it what it has for it.
void write_round(const ScheduleRequest& request, std::int64_t round, RoundWriter& writer) {
  for_each_at(static_cast<int>(round) + 1, request.num_ranks,
              [&](Rank source, Rank target) { writer.reduce(source, target, target); });
}

}  // namespace pairwise

namespace recursive_halving {

ScheduleShape shape(const ScheduleRequest& request) {
  const Fold fold(request.num_ranks);
  return {.num_chunks = request.num_ranks, .num_rounds = fold.levels() + (fold.excess() > 0 ? 2 : 0)};
}

void write_round(const ScheduleRequest& request, std::int64_t round, RoundWriter& writer) {
  const Fold fold(request.num_ranks);
  const std::int64_t step = fold.excess() > 0 ? round - 1 : round;
  if (step < 0) {
    fold.write_in(request.num_ranks, writer);
  } else if (step < fold.levels()) {
    write_recursive_halving_of_ranks(fold, step, writer);
  } else {
    for (int index = 0; index < fold.excess(); ++index) {
      writer.copy(fold.member(index), 2 * index, 2 * index);
    }
  }
}

/// Member 0 has the longest halves: those that were folded in have two parts each.
CriticalPath halvings(const ScheduleRequest& request) {
  const Fold fold(request.num_ranks);
  double parts = fold.excess() > 0 ? request.num_ranks : 0;
  for (int distance = fold.num_members() / 2; distance > 0; distance /= 2) {
    parts += fold.begin(distance);
  }
  const double bytes = parts / request.num_ranks;
  return {.messages = fold.levels() + (fold.excess() > 0 ? 1.0 : 0), .bytes = bytes, .reduced_bytes = bytes};
}

CriticalPath with_last(CriticalPath path, const ScheduleRequest& request) {
  path.messages += 1;
  path.bytes += 1.0 / request.num_ranks;
  return path;
}

CriticalPath critical_path(const ScheduleRequest& request) {
  const CriticalPath path = halvings(request);
  return Fold(request.num_ranks).excess() > 0 ? with_last(path, request) : path;
}

}  // namespace recursive_halving

namespace butterfly {

/// Whether some member ends with what belongs to another rank.
bool exchanges(const ScheduleRequest& request) { return request.num_ranks > 2; }

ScheduleShape shape(const ScheduleRequest& request) {
  const Fold fold(request.num_ranks);
  return {.num_chunks = request.num_ranks,
          .num_rounds = fold.levels() + (fold.excess() > 0 ? 1 : 0) + (exchanges(request) ? 1 : 0)};
}

/// Halves go to the neighbour first; so each member ends with what belongs to its mirror image.
void write_round(const ScheduleRequest& request, std::int64_t round, RoundWriter& writer) {
  const Fold fold(request.num_ranks, true);
  const std::int64_t step = fold.excess() > 0 ? round - 1 : round;
  if (step < 0) {
    fold.write_in(request.num_ranks, writer);
  } else if (step < fold.levels()) {
    write_recursive_halving_of_ranks(fold, step, writer);
  } else {
    for (int index = 0; index < fold.num_members(); ++index) {
      for (Rank owner = fold.begin(index); owner < fold.begin(index + 1); ++owner) {
        if (owner != fold.member(index)) {
          writer.copy(fold.member(index), owner, owner);
        }
      }
    }
  }
}

CriticalPath critical_path(const ScheduleRequest& request) {
  const CriticalPath path = recursive_halving::halvings(request);
  return exchanges(request) ? recursive_halving::with_last(path, request) : path;
}

bool several_at_once(const ScheduleRequest& request) { return Fold(request.num_ranks).excess() > 1; }

}  // namespace butterfly

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
          .wins_when = "messages are short",
          .shape = recursive_halving::shape,
          .write_round = recursive_halving::write_round,
          .critical_path = recursive_halving::critical_path};
}

Algorithm pairwise_reduce_scatter() {
  return {.name = "pairwise",
          .collective = Collective::reduce_scatter,
          .summary = "in round t every rank sends the one t behind it its part",
          .wins_when = "messages are long and every pair of ranks is connected alike",
          .shape = ring::shape,
          .write_round = pairwise::write_round,
          .critical_path = ring::critical_path};
}

Algorithm butterfly_reduce_scatter() {
  return {.name = "butterfly",
          .collective = Collective::reduce_scatter,
          .summary = "halves are exchanged with the neighbour first, and at last each part goes to its rank",
          .wins_when = "links between nodes are much slower than those inside",
          .shape = butterfly::shape,
          .write_round = butterfly::write_round,
          .critical_path = butterfly::critical_path,
          .several_at_once = butterfly::several_at_once};
}

}  // namespace ringside
