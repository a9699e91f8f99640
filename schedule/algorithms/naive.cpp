// naive all_reduce: every rank sends all of S to the root, one rank after another; the root reduces, then
// sends the result to each in turn.
//
//   messages in sequence   2(n−1)
//   bytes in sequence      2(n−1)·S
//   reduced in sequence    (n−1)·S, all at the root
//   sent per rank          S; the root (n−1)·S
//   restriction            none
//
// The root receives one rank after another as each reduction into its message conflicts with the next: this
// is how tutorials write it. On one shared medium it moves as many bytes in all, 2(n−1)·S, as a chunked ring.
//
// Source: the linear algorithm of any text, e.g. E. Chan, M. Heimlich, A. Purkayastha, R. van de Geijn,
// "Collective communication: theory, practice, and experience", Concurrency and Computation 19(13), 2007.

#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/phases.hpp"

namespace ringside {
Algorithm naive_all_reduce() {
  return {.name = "naive",
          .summary = "every rank sends everything to one root, which reduces and sends the result to each",
          .wins_when = "never by much: with two ranks and short messages it is as good as any",
          .outline = [](const ScheduleRequest& request) -> Outline {
            return {.phases = {linear_reduce(request), linear_broadcast(request)}};
          }};
}

}  // namespace ringside
