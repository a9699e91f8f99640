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
namespace {

ScheduleShape shape(const ScheduleRequest& request) {
  return {.num_rounds = 2 * num_doublings(request.num_ranks)};
}

void write_round(const ScheduleRequest& request, std::int64_t round, RoundWriter& writer) {
  const int levels = num_doublings(request.num_ranks);
  if (round < levels) {
    write_binomial_reduce(request, round, writer);
  } else {
    write_binomial_broadcast(request, round - levels, writer);
  }
}

CriticalPath critical_path(const ScheduleRequest& request) {
  const double levels = num_doublings(request.num_ranks);
  return {.messages = 2 * levels, .bytes = 2 * levels, .reduced_bytes = levels};
}

}  // namespace

Algorithm binomial_tree_all_reduce() {
  return {.name = "binomial_tree",
          .summary = "reduce to a root and broadcast from it, along a binomial tree",
          .wins_when = "messages are short and ranks should talk to few others",
          .shape = shape,
          .write_round = write_round,
          .critical_path = critical_path};
}

}  // namespace ringside
