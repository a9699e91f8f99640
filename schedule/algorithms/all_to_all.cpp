// all_to_all: every message in n parts, the j-th to rank j. S is what a rank sends (and gets); the buffer of
// a
// schedule holds those of all ranks, n·S, and the part from rank i to rank j is its chunk i·n + j.
//
//                          naive     pairwise    direct
//   messages in sequence   n         n−1         1
//   bytes in sequence      S         (n−1)/n·S   S/n: on private links a rank's messages travel side by side
//   sent per rank          (n−1)/n·S in each
//   restriction            none; a round of direct has n(n−1) moves
//
// Source: J. Bruck et al., "Efficient algorithms for all-to-all communications in multiport message-passing
// systems", IEEE TPDS 8(11), 1997 (pairwise, as MPICH has it for long messages); NCCL's all_to_all is direct.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/phases.hpp"

namespace ringside {
namespace {

std::optional<std::string> unsupported(const ScheduleRequest& request) {
  const std::int64_t parts = std::int64_t{request.num_ranks} * request.num_ranks;
  if (parts > std::numeric_limits<std::int32_t>::max()) {
    return fmt::format(
        "all_to_all of {} ranks has {} parts, more than can be counted; take up to 46,340 ranks",
        request.num_ranks, parts);
  }
  return std::nullopt;
}

std::int32_t chunk_of(const ScheduleRequest& request, Rank source, Rank target) {
  return source * request.num_ranks + target;
}

std::int32_t num_chunks(const ScheduleRequest& request) { return request.num_ranks * request.num_ranks; }

bool more_than_two(const ScheduleRequest& request) { return request.num_ranks > 2; }

namespace naive {

ScheduleShape shape(const ScheduleRequest& request) {
  return {.num_chunks = num_chunks(request), .num_rounds = request.num_ranks > 1 ? request.num_ranks : 0};
}

/// A loop over the targets: in round t everybody sends to rank t.
void write_round(const ScheduleRequest& request, std::int64_t round, RoundWriter& writer) {
  const Rank target = static_cast<Rank>(round);
  for (Rank source = 0; source < request.num_ranks; ++source) {
    if (source != target) {
      writer.copy(source, target, chunk_of(request, source, target));
    }
  }
}

CriticalPath critical_path(const ScheduleRequest& request) {
  const double n = request.num_ranks;
  return n > 1 ? CriticalPath{.messages = n, .bytes = 1 / n} : CriticalPath{};
}

}  // namespace naive

namespace pairwise {

ScheduleShape shape(const ScheduleRequest& request) {
  return {.num_chunks = num_chunks(request), .num_rounds = request.num_ranks - 1};
}

/// In round t every rank sends to the one t + 1 behind it.
void write_round(const ScheduleRequest& request, std::int64_t round, RoundWriter& writer) {
  for_each_at(static_cast<int>(round) + 1, request.num_ranks, [&](Rank source, Rank target) {
    writer.copy(source, target, chunk_of(request, source, target));
  });
}

CriticalPath critical_path(const ScheduleRequest& request) {
  const double n = request.num_ranks;
  return {.messages = n - 1, .bytes = (n - 1) / (n * n)};
}

}  // namespace pairwise

namespace direct {

ScheduleShape shape(const ScheduleRequest& request) {
  return {.num_chunks = num_chunks(request), .num_rounds = request.num_ranks > 1 ? 1 : 0};
}

void write_round(const ScheduleRequest& request, std::int64_t /*round*/, RoundWriter& writer) {
  for_each_pair(request.num_ranks, [&](Rank source, Rank target) {
    writer.copy(source, target, chunk_of(request, source, target));
  });
}

CriticalPath critical_path(const ScheduleRequest& request) {
  const double n = request.num_ranks;
  return n > 1 ? CriticalPath{.messages = 1, .bytes = 1 / (n * n)} : CriticalPath{};
}

}  // namespace direct

}  // namespace

Algorithm naive_all_to_all() {
  return {.name = "naive",
          .collective = Collective::all_to_all,
          .summary = "a loop over the targets: everybody sends to rank 0, then to rank 1, and so on",
          .wins_when = "never: all senders share the port of one target",
          .unsupported = unsupported,
          .shape = naive::shape,
          .write_round = naive::write_round,
          .critical_path = naive::critical_path,
          .several_at_once = more_than_two};
}

Algorithm pairwise_all_to_all() {
  return {.name = "pairwise",
          .collective = Collective::all_to_all,
          .summary = "in round t every rank sends to the one t behind it and gets from the one t before it",
          .wins_when = "messages are long: every port is busy in both directions all the time",
          .unsupported = unsupported,
          .shape = pairwise::shape,
          .write_round = pairwise::write_round,
          .critical_path = pairwise::critical_path};
}

Algorithm direct_all_to_all() {
  return {.name = "direct",
          .collective = Collective::all_to_all,
          .summary = "every rank sends every other its part at once",
          .wins_when = "messages are short, or every pair of ranks has a link of its own",
          .unsupported = too_many_pairs,
          .shape = direct::shape,
          .write_round = direct::write_round,
          .critical_path = direct::critical_path,
          .several_at_once = more_than_two};
}

}  // namespace ringside
