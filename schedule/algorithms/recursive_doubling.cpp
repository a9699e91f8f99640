// recursive_doubling all_reduce: in each round, ranks at twice the distance exchange all of S and both
// reduce. L = ⌊log₂ n⌋, and F = 1 unless n is a power of two.
//
//   messages in sequence   L + 2F
//   bytes in sequence      (L + 2F)·S
//   reduced in sequence    (L + F)·S
//   sent per rank          at most (L + F)·S
//   restriction            none: excess ranks fold into a neighbour first and get the result last
//
// Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in
// MPICH", Int. J. High Performance Computing Applications 19(1), 2005.

#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/phases.hpp"

namespace ringside {
namespace {

ScheduleShape shape(const ScheduleRequest& request) {
  const Fold fold(request.num_ranks);
  return {.num_rounds = fold.levels() + (fold.excess() > 0 ? 2 : 0)};
}

void write_round(const ScheduleRequest& request, std::int64_t round, RoundWriter& writer) {
  const Fold fold(request.num_ranks);
  const std::int64_t step = fold.excess() > 0 ? round - 1 : round;
  if (step < 0) {
    fold.write_in(1, writer);
  } else if (step < fold.levels()) {
    for (int index = 0; index < fold.num_members(); ++index) {
      writer.reduce(fold.member(index), fold.member(index ^ (1 << step)), 0);
    }
  } else {
    fold.write_out(1, writer);
  }
}

CriticalPath critical_path(const ScheduleRequest& request) {
  const Fold fold(request.num_ranks);
  const double folds = fold.excess() > 0 ? 1 : 0;
  const double exchanges = fold.levels();
  return {
      .messages = exchanges + 2 * folds, .bytes = exchanges + 2 * folds, .reduced_bytes = exchanges + folds};
}

}  // namespace

Algorithm recursive_doubling_all_reduce() {
  return {.name = "recursive_doubling",
          .summary = "log N exchanges of the whole message between ranks at doubling distances",
          .wins_when = "messages are short: few messages in sequence, and no root to come back from",
          .shape = shape,
          .write_round = write_round,
          .critical_path = critical_path};
}

}  // namespace ringside
