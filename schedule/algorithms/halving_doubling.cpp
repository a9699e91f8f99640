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

ScheduleShape shape(const ScheduleRequest& request) {
  const Fold fold(request.num_ranks);
  return {.num_chunks = fold.num_members(), .num_rounds = 2 * fold.levels() + (fold.excess() > 0 ? 2 : 0)};
}

void write_round(const ScheduleRequest& request, std::int64_t round, RoundWriter& writer) {
  const Fold fold(request.num_ranks, true);
  const std::int64_t step = fold.excess() > 0 ? round - 1 : round;
  if (step < 0) {
    fold.write_in(fold.num_members(), writer);
  } else if (step < fold.levels()) {
    write_recursive_halving(fold, step, writer);
  } else if (step < 2 * fold.levels()) {
    write_recursive_doubling(fold, step - fold.levels(), writer);
  } else {
    fold.write_out(fold.num_members(), writer);
  }
}

CriticalPath critical_path(const ScheduleRequest& request) {
  const Fold fold(request.num_ranks);
  const double folds = fold.excess() > 0 ? 1 : 0;
  const double part_given_away = 1 - 1.0 / fold.num_members();
  return {.messages = 2.0 * fold.levels() + 2 * folds,
          .bytes = 2 * part_given_away + 2 * folds,
          .reduced_bytes = part_given_away + folds};
}

}  // namespace

Algorithm halving_doubling_all_reduce() {
  return {.name = "halving_doubling",
          .summary = "Rabenseifner's: reduce_scatter by recursive halving, all_gather by recursive doubling",
          .wins_when = "ranks are a power of two: as few bytes as a ring in 2 log N messages",
          .shape = shape,
          .write_round = write_round,
          .critical_path = critical_path};
}

}  // namespace ringside
