// tutorial_ring all_reduce: the ring that tutorials write. Everybody's whole message travels around the ring in a
// buffer besides the accumulator: n−1 times a hop and a local reduction, then n−1 hops of the result.
//
//   messages in sequence   2(n−1)
//   bytes in sequence      2(n−1)·S, as many as naive: without chunks a ring saves nothing
//   reduced in sequence    (n−1)·S
//   sent per rank          2(n−1)·S
//   restriction            none
//
// The second half is redundant: after n−1 hops every accumulator holds every contribution, and the proof says so.
//
// Source: the `allreduce` of PyTorch's tutorial "Writing Distributed Applications with PyTorch" (S. Arnold), with
// its send_buff and recv_buff as scratch buffers, and the second loop of the tutorials that copy "all_gather" from
// the chunked ring.

#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/phases.hpp"

namespace ringside {
namespace {

constexpr std::uint8_t kAccumulator = 0;
constexpr std::uint8_t kReceived = 1;
constexpr std::uint8_t kSent = 2;

/// Every rank copies its buffer `from` into buffer `to` of its right neighbour.
void write_hop(int n, std::uint8_t from, std::uint8_t to, RoundWriter& writer) {
  for (Rank rank = 0; rank < n; ++rank) {
    writer.add({.source = rank, .target = wrapped(rank + 1, n), .source_buffer = from, .target_buffer = to});
  }
}

void write_local_reduction(int n, std::uint8_t from, RoundWriter& writer) {
  for (Rank rank = 0; rank < n; ++rank) {
    writer.add({.source = rank,
                .target = rank,
                .kind = MoveKind::reduce,
                .source_buffer = from,
                .target_buffer = kAccumulator});
  }
}

ScheduleShape shape(const ScheduleRequest& request) {
  return {.num_buffers = 3, .num_rounds = 3 * (request.num_ranks - 1)};
}

void write_round(const ScheduleRequest& request, std::int64_t round, RoundWriter& writer) {
  const int n = request.num_ranks;
  const std::int64_t num_reducing_rounds = 2 * (n - 1);
  if (round < num_reducing_rounds) {
    // Step by step the two scratch buffers change roles; the first step sends the message itself.
    const std::int64_t step = round / 2;
    const std::uint8_t received = step % 2 == 0 ? kReceived : kSent;
    const std::uint8_t sent = step == 0 ? kAccumulator : (step % 2 == 0 ? kSent : kReceived);
    if (round % 2 == 0) {
      write_hop(n, sent, received, writer);
    } else {
      write_local_reduction(n, received, writer);
    }
  } else {
    const bool even = (round - num_reducing_rounds) % 2 == 0;
    write_hop(n, even ? kAccumulator : kReceived, even ? kReceived : kAccumulator, writer);
  }
}

CriticalPath critical_path(const ScheduleRequest& request) {
  const double n = request.num_ranks;
  return {.messages = 2 * (n - 1), .bytes = 2 * (n - 1), .reduced_bytes = n - 1};
}

}  // namespace

Algorithm tutorial_ring_all_reduce() {
  return {
      .name = "tutorial_ring",
      .summary = "the ring that tutorials write: the whole message circulates, to reduce and then to copy",
      .wins_when = "never: it is a ring without the chunks that make a ring fast",
      .shape = shape,
      .write_round = write_round,
      .critical_path = critical_path};
}

}  // namespace ringside
