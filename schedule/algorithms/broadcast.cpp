// broadcast: the root's message to every rank. L = ⌈log₂ n⌉; ring cuts the message into s segments.
//
//                          naive     ring                        binomial_tree
//   messages in sequence   n−1       s + n − 2                   L
//   bytes in sequence      (n−1)·S   (s + n − 2)/s·S             L·S
//   sent per rank          root      S                           root
//                          (n−1)·S                               L·S
//   restriction            none      none                        none
//
// By default ring has as many segments as it takes hops to fill the pipeline, n − 2, so that it costs 2S.
//
// Source: R. Thakur, R. Rabenseifner, W. Gropp, Int. J. High Performance Computing Applications 19(1), 2005
// (binomial tree); J. Pješivac-Grbović et al., "Performance analysis of MPI collective operations", Cluster
// Computing 10(2), 2007 (linear, pipeline).

#include <algorithm>

#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/phases.hpp"

namespace ringside {
namespace {

namespace naive {

ScheduleShape shape(const ScheduleRequest& request) { return {.num_rounds = request.num_ranks - 1}; }

void write_round(const ScheduleRequest& request, std::int64_t round, RoundWriter& writer) {
  writer.copy(request.root, wrapped(request.root + 1 + static_cast<int>(round), request.num_ranks), 0);
}

CriticalPath critical_path(const ScheduleRequest& request) {
  const double n = request.num_ranks;
  return {.messages = n - 1, .bytes = n - 1};
}

}  // namespace naive

namespace ring {

int num_segments(const ScheduleRequest& request) {
  return request.segments == 0 ? std::max(1, request.num_ranks - 2) : request.segments;
}

std::int64_t num_rounds(const ScheduleRequest& request) {
  const std::int64_t n = request.num_ranks;
  return n == 1 ? 0 : num_segments(request) + n - 2;
}

ScheduleShape shape(const ScheduleRequest& request) {
  return {.num_chunks = num_segments(request), .num_rounds = num_rounds(request)};
}

void write_round(const ScheduleRequest& request, std::int64_t round, RoundWriter& writer) {
  const int n = request.num_ranks;
  // Segment j makes hop h in round j + h.
  const std::int64_t first = std::max<std::int64_t>(0, round - num_segments(request) + 1);
  const std::int64_t last = std::min<std::int64_t>(n - 2, round);
  for (auto hop = static_cast<int>(first); hop <= last; ++hop) {
    writer.copy(wrapped(request.root + hop, n), wrapped(request.root + hop + 1, n),
                static_cast<std::int32_t>(round) - hop);
  }
}

CriticalPath critical_path(const ScheduleRequest& request) {
  const auto rounds = static_cast<double>(num_rounds(request));
  return {.messages = rounds, .bytes = rounds / num_segments(request)};
}

}  // namespace ring

namespace binomial_tree {

ScheduleShape shape(const ScheduleRequest& request) {
  return {.num_rounds = num_doublings(request.num_ranks)};
}

CriticalPath critical_path(const ScheduleRequest& request) {
  const double levels = num_doublings(request.num_ranks);
  return {.messages = levels, .bytes = levels};
}

}  // namespace binomial_tree

}  // namespace

Algorithm naive_broadcast() {
  return {.name = "naive",
          .collective = Collective::broadcast,
          .summary = "the root sends everything to each rank in turn",
          .wins_when = "there are two ranks",
          .shape = naive::shape,
          .write_round = naive::write_round,
          .critical_path = naive::critical_path};
}

Algorithm ring_broadcast() {
  return {.name = "ring",
          .collective = Collective::broadcast,
          .summary = "a pipelined chain: segments travel from rank to rank, one behind the other",
          .wins_when = "messages are long and ranks not too many",
          .shape = ring::shape,
          .write_round = ring::write_round,
          .critical_path = ring::critical_path};
}

Algorithm binomial_tree_broadcast() {
  return {.name = "binomial_tree",
          .collective = Collective::broadcast,
          .summary = "in each round every rank that has the message sends it to one that has not",
          .wins_when = "messages are short",
          .shape = binomial_tree::shape,
          .write_round = write_binomial_broadcast,
          .critical_path = binomial_tree::critical_path};
}

}  // namespace ringside
