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

/// In round t every rank gives the one t + 1 behind it what it has for it.
Outline pairwise(const ScheduleRequest& request) {
  const int n = request.num_ranks;
  const auto write = [n](std::int64_t step, RoundWriter& round) {
    for_each_at(static_cast<int>(step) + 1, n,
                [&](Rank source, Rank target) { round.reduce(source, target, target); });
  };
  return {.num_chunks = n, .phases = {reducing(chunk_by_chunk(n - 1, write))}};
}

/// From the members of a fold, each chunk to the rank that it belongs to.
Phase to_owners(const Fold& fold) {
  const auto write = [fold](std::int64_t /*step*/, RoundWriter& round) {
    for (int index = 0; index < fold.num_members(); ++index) {
      for (Rank owner = fold.begin(index); owner < fold.begin(index + 1); ++owner) {
        if (owner != fold.member(index)) {
          round.copy(fold.member(index), owner, owner);
        }
      }
    }
  };
  return chunk_by_chunk(1, write);
}

Outline recursive_halving(const ScheduleRequest& request) {
  const Fold fold(request.num_ranks);
  Outline outline = {.num_chunks = request.num_ranks,
                     .phases = {fold_in(fold, request.num_ranks), recursive_halving_of_ranks(fold)}};
  if (fold.excess() > 0) {
    outline.phases.push_back(to_owners(fold));
  }
  return outline;
}

/// Halves go to the neighbour first; so each member of more than two ends with what belongs to its mirror
/// image.
Outline butterfly(const ScheduleRequest& request) {
  const Fold fold(request.num_ranks, true);
  Outline outline = {.num_chunks = request.num_ranks,
                     .phases = {fold_in(fold, request.num_ranks), recursive_halving_of_ranks(fold)}};
  if (request.num_ranks > 2) {
    outline.phases.push_back(to_owners(fold));
    outline.phases.back().several_at_once = fold.excess() > 1;
  }
  return outline;
}

}  // namespace

std::vector<Algorithm> reduce_scatters() {
  return {{.name = "naive",
           .summary = "everything to the root, one rank after another, then each part to its rank",
           .wins_when = "never by much: with two ranks and short messages it is as good as any",
           .outline = [](const ScheduleRequest& request) -> Outline {
             const int n = request.num_ranks;
             return {.num_chunks = n, .phases = {linear_reduce(request, n), linear_scatter(request)}};
           }},
          {.name = "ring",
           .summary = "parts travel around a ring and are reduced at each rank",
           .wins_when = "messages are long, for any number of ranks",
           .outline = [](const ScheduleRequest& request) -> Outline {
             const int n = request.num_ranks;
             return {.num_chunks = n, .phases = {ring_reduce_scatter({.size = n})}};
           }},
          {.name = "pairwise",
           .summary = "in round t every rank sends the one t behind it its part",
           .wins_when = "messages are long and every pair of ranks is connected alike",
           .outline = pairwise},
          {.name = "recursive_halving",
           .summary = "log N exchanges of half of what is left between ranks at halving distances",
           .wins_when = "messages are short",
           .outline = recursive_halving},
          {.name = "butterfly",
           .summary = "halves are exchanged with the neighbour first, and at last each part goes to its rank",
           .wins_when = "links between nodes are much slower than those inside",
           .outline = butterfly}};
}

}  // namespace ringside
