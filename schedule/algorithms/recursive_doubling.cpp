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

Phase exchanges(const Fold& fold) {
  const auto write = [fold](std::int64_t step, RoundWriter& round) {
    for (int index = 0; index < fold.num_members(); ++index) {
      round.reduce(fold.member(index), fold.member(index ^ (1 << step)), 0);
    }
  };
  return reducing(chunk_by_chunk(fold.levels(), write));
}

Outline outline(const ScheduleRequest& request) {
  const Fold fold(request.num_ranks);
  return {.phases = {fold_in(fold, 1), exchanges(fold), fold_out(fold, 1)}};
}

}  // namespace

Algorithm recursive_doubling_all_reduce() {
  return {.name = "recursive_doubling",
          .summary = "log N exchanges of the whole message between ranks at doubling distances",
          .wins_when = "messages are short: few messages in sequence, and no root to come back from",
          .outline = outline};
}

}  // namespace ringside
