// binomial_tree all_reduce: a reduction to the root along a binomial tree, then a broadcast along the same
// tree. L = ⌈log₂ n⌉.
//
//   messages in sequence   2L
//   bytes in sequence      2L·S
//   reduced in sequence    L·S
//   sent per rank          S for most; the root L·S
//   restriction            none
//
// Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in
// MPICH", Int. J. High Performance Computing Applications 19(1), 2005.

#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/phases.hpp"

namespace ringside {
Algorithm binomial_tree_all_reduce() {
  return {.name = "binomial_tree",
          .summary = "reduce to a root and broadcast from it, along a binomial tree",
          .wins_when = "messages are short and ranks should talk to few others",
          .outline = [](const ScheduleRequest& request) -> Outline {
            return {.phases = {binomial_reduce(request), binomial_broadcast(request)}};
          }};
}

}  // namespace ringside
