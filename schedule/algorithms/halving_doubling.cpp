// halving_doubling all_reduce (Rabenseifner): a reduce_scatter by recursive halving, then an all_gather by
// recursive doubling. L = ⌊log₂ n⌋, p = 2^L, and F = 1 unless n is a power of two.
//
//   messages in sequence   2L + 2F
//   bytes in sequence      (2(p−1)/p + 2F)·S
//   reduced in sequence    ((p−1)/p + F)·S
//   sent per rank          at most (2(p−1)/p + F)·S
//   restriction            none: excess ranks fold into a neighbour first and get the result last
//
// Halves go to the neighbour first, then to ranks at doubling distances: where ranks are placed node by node,
// what crosses nodes is short. Open MPI 4.1 (coll_base_allreduce.c) and MPICH 4.0 do so.
//
// Source: R. Rabenseifner, "Optimization of collective reduction operations", ICCS 2004; R. Thakur, R.
// Rabenseifner,
// W. Gropp, Int. J. High Performance Computing Applications 19(1), 2005. The folding is MPICH's.

#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/phases.hpp"

namespace ringside {
namespace {

Outline outline(const ScheduleRequest& request) {
  const Fold fold(request.num_ranks, true);
  const std::int32_t chunks = fold.num_members();
  return {.num_chunks = chunks,
          .phases = {fold_in(fold, chunks), recursive_halving(fold), recursive_doubling(fold),
                     fold_out(fold, chunks)}};
}

}  // namespace

Algorithm halving_doubling_all_reduce() {
  return {.name = "halving_doubling",
          .summary = "Rabenseifner's: reduce_scatter by recursive halving, all_gather by recursive doubling",
          .wins_when = "ranks are a power of two: as few bytes as a ring in 2 log N messages",
          .outline = outline};
}

}  // namespace ringside
