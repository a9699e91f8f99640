#include "schedule/algorithms/phases.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include <fmt/format.h>

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

/// Bits that it takes to write a number >= 0; bit_width is unsigned here, in later standards int.
int bit_width(int value) { return static_cast<int>(std::bit_width(static_cast<unsigned>(value))); }

}  // namespace

int num_doublings(int n) { return bit_width(n - 1); }

std::optional<std::string> too_many_segments(std::int64_t num_blocks, int segments) {
  const std::int64_t max_segments = std::numeric_limits<std::int32_t>::max() / num_blocks;
  if (segments > max_segments) {
    return fmt::format("{} segments are too many; here there can be {} at most", segments, max_segments);
  }
  return std::nullopt;
}

std::optional<std::string> too_many_pairs(const ScheduleRequest& request) {
  constexpr int kMost = 2048;
  if (request.num_ranks <= kMost) {
    return std::nullopt;
  }
  return fmt::format("a round of {} ranks has a message for every pair of them; take up to {} ranks",
                     request.num_ranks, kMost);
}

namespace {

/// Member m sends block m − `behind` (modulo size) to member m + 1. Counters instead of products: 10⁸ moves
/// of long rings are written.
template <typename Write>
void write_ring_step(const Ring& ring, int behind, Write write) {
  Rank member = ring.first;
  int block = wrapped(-behind, ring.size);
  for (int sender = 1; sender <= ring.size; ++sender, ++block) {
    block = block == ring.size ? 0 : block;
    const Rank next = sender == ring.size ? ring.first : member + ring.stride;
    write(member, next, ring.block(block));
    member = next;
  }
}

}  // namespace

void write_ring_reduce_scatter(const Ring& ring, std::int64_t step, RoundWriter& round) {
  // Block b starts at member b+1 and arrives at its owner b after size−1 hops.
  write_ring_step(ring, 1 + static_cast<int>(step), [&](Rank source, Rank target, std::int32_t chunk) {
    round.reduce(source, target, chunk, ring.num_chunks);
  });
}

void write_ring_all_gather(const Ring& ring, std::int64_t step, RoundWriter& round) {
  write_ring_step(ring, static_cast<int>(step), [&](Rank source, Rank target, std::int32_t chunk) {
    round.copy(source, target, chunk, ring.num_chunks);
  });
}

void write_circulation(int n, std::int64_t round, RoundWriter& writer) {
  // Step by step the two scratch buffers change roles; the first step sends the message itself.
  const std::int64_t step = round / 2;
  const std::uint8_t received = step % 2 == 0 ? kReceived : kSent;
  const std::uint8_t sent = step == 0 ? kAccumulator : (step % 2 == 0 ? kSent : kReceived);
  if (round % 2 == 0) {
    write_hop(n, sent, received, writer);
  } else {
    write_local_reduction(n, received, writer);
  }
}

void write_circulating_copy(int n, std::int64_t round, RoundWriter& writer) {
  const bool even = round % 2 == 0;
  write_hop(n, even ? kAccumulator : kReceived, even ? kReceived : kAccumulator, writer);
}

void write_binomial_reduce(const ScheduleRequest& request, std::int64_t step, RoundWriter& round) {
  const int n = request.num_ranks;
  const int distance = 1 << step;
  for (int child = distance; child < n; child += 2 * distance) {
    round.reduce(wrapped(request.root + child, n), wrapped(request.root + child - distance, n), 0);
  }
}

void write_binomial_broadcast(const ScheduleRequest& request, std::int64_t step, RoundWriter& round) {
  const int n = request.num_ranks;
  const int distance = 1 << (num_doublings(n) - 1 - step);
  for (int child = distance; child < n; child += 2 * distance) {
    round.copy(wrapped(request.root + child - distance, n), wrapped(request.root + child, n), 0);
  }
}

namespace {

/// Calls `look(begin, middle, end)` for the intervals that [0, n) was halved into `depth` times.
template <typename Look>
void for_each_interval(int n, int depth, Look look) {
  for (int index = 0; index < 1 << depth; ++index) {
    int begin = 0;
    int size = n;
    for (int level = depth - 1; level >= 0; --level) {
      const bool second = ((index >> level) & 1) != 0;
      begin += second ? size / 2 : 0;
      size = second ? size - size / 2 : size / 2;
    }
    if (size > 1) {
      look(begin, begin + size / 2, begin + size);
    }
  }
}

}  // namespace

void write_interval_doubling(const ScheduleRequest& request, std::int64_t step, bool after_halving,
                             RoundWriter& round) {
  const int n = request.num_ranks;
  const auto copy = [&](int source, int target, int first, int last) {
    round.copy(wrapped(request.root + source, n), wrapped(request.root + target, n), first, last - first);
  };
  for_each_interval(n, num_doublings(n) - 1 - static_cast<int>(step), [&](int begin, int middle, int end) {
    for (int right = middle; right < end; ++right) {
      const int left = std::min(begin + right - middle, middle - 1);
      copy(left, right, begin, middle);
      if (begin + right - middle < middle && !(after_halving && right == middle)) {
        copy(right, left, middle, end);
      }
    }
  });
}

void write_interval_halving(const ScheduleRequest& request, std::int64_t step, RoundWriter& round) {
  const int n = request.num_ranks;
  for_each_interval(n, static_cast<int>(step), [&](int begin, int middle, int end) {
    round.copy(wrapped(request.root + begin, n), wrapped(request.root + middle, n), middle, end - middle);
  });
}

double chunks_of_intervals(int n, bool after_halving) {
  double chunks = 0;
  for (; n > 1; n -= n / 2) {
    chunks += after_halving && n == 3 ? 1 : n - n / 2;
  }
  return chunks;
}

Fold::Fold(int num_ranks, bool nearest_first)
    : levels_(bit_width(num_ranks) - 1), excess_(num_ranks - (1 << levels_)), nearest_first_(nearest_first) {}

Rank Fold::member(int index) const {
  int place = nearest_first_ ? 0 : index;
  for (int level = 0; nearest_first_ && level < levels_; ++level) {
    place = 2 * place + (index >> level) % 2;  // The last bit of one is the first of the other.
  }
  return place < excess_ ? 2 * place + 1 : place + excess_;
}

void Fold::write_in(std::int32_t num_chunks, RoundWriter& round) const {
  for (int index = 0; index < excess_; ++index) {
    round.reduce(2 * index, 2 * index + 1, 0, num_chunks);
  }
}

void Fold::write_out(std::int32_t num_chunks, RoundWriter& round) const {
  for (int index = 0; index < excess_; ++index) {
    round.copy(2 * index + 1, 2 * index, 0, num_chunks);
  }
}

void write_recursive_halving(const Fold& fold, std::int64_t step, RoundWriter& round) {
  const int distance = fold.num_members() >> (step + 1);
  for (int index = 0; index < fold.num_members(); ++index) {
    // Each gives away that half of the range that the two still share in which the other's chunk lies.
    const int partner = index ^ distance;
    round.reduce(fold.member(index), fold.member(partner), partner & ~(distance - 1), distance);
  }
}

void write_recursive_halving_of_ranks(const Fold& fold, std::int64_t step, RoundWriter& round) {
  const int distance = fold.num_members() >> (step + 1);
  for (int index = 0; index < fold.num_members(); ++index) {
    const int partner = index ^ distance;
    const int first = partner & ~(distance - 1);
    round.reduce(fold.member(index), fold.member(partner), fold.begin(first),
                 fold.begin(first + distance) - fold.begin(first));
  }
}

void write_recursive_doubling(const Fold& fold, std::int64_t step, RoundWriter& round) {
  const int distance = 1 << step;
  for (int index = 0; index < fold.num_members(); ++index) {
    round.copy(fold.member(index), fold.member(index ^ distance), index & ~(distance - 1), distance);
  }
}

}  // namespace ringside
