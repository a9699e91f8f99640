#include "schedule/algorithms/phases.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace ringside {
namespace {

constexpr std::uint8_t kAccumulator = 0;
constexpr std::uint8_t kReceived = 1;
constexpr std::uint8_t kSent = 2;

/// Bits that it takes to write a number >= 0; bit_width is unsigned here, in later standards int.
int bit_width(int value) { return static_cast<int>(std::bit_width(static_cast<unsigned>(value))); }

/// `write(source, target, chunk)` for every member, which sends the block that is `behind` its own (modulo
/// size) to the next. Counters instead of products: 10⁸ moves of long rings are written.
template <typename Write>
void write_ring_step(const Ring& ring, int behind, int segment, const Write& write) {
  for (int copy = 0; copy < ring.count; ++copy) {
    const Rank first = copy * ring.next_first;
    const std::int32_t first_chunk = copy * ring.next_chunk + segment;
    Rank member = first;
    int block = wrapped(-behind, ring.size);
    for (int sender = 1; sender <= ring.size; ++sender, ++block) {
      block = block == ring.size ? 0 : block;
      const Rank next = sender == ring.size ? first : member + ring.stride;
      write(member, next, first_chunk + block * ring.chunk_stride);
      member = next;
    }
  }
}

/// But for what is written and reduced.
Phase around(const Ring& ring) {
  const std::int64_t rounds = (ring.size - std::int64_t{1}) * ring.segments;
  return {.num_rounds = rounds,
          .chunks = static_cast<double>(rounds) * ring.num_chunks,
          .period = 1,
          .passes_on = ring.segments == 1};
}

template <typename Write>
Phase linear(const ScheduleRequest& request, std::int32_t num_chunks, const Write& write) {
  const int n = request.num_ranks;
  return {.num_rounds = n - 1,
          .chunks = (n - 1.0) * num_chunks,
          .write = [n, root = request.root, write](std::int64_t step, RoundWriter& round) {
            write(round, root, wrapped(root + 1 + static_cast<int>(step), n));
          }};
}

/// Every rank copies its buffer `from` into buffer `to` of its right neighbour.
void write_hop(int n, std::uint8_t from, std::uint8_t to, RoundWriter& writer) {
  for_each_at(1, n, [&](Rank source, Rank target) {
    writer.add({.source = source, .target = target, .source_buffer = from, .target_buffer = to});
  });
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

/// `move(parent, child)` for the pairs at this distance in a binomial tree from the root.
template <typename Move>
void for_each_branch(int n, Rank root, int distance, const Move& move) {
  for (int child = distance; child < n; child += 2 * distance) {
    move(wrapped(root + child - distance, n), wrapped(root + child, n));
  }
}

/// Calls `look(begin, middle, end)` for the intervals that [0, n) was halved into `depth` times.
template <typename Look>
void for_each_interval(int n, int depth, const Look& look) {
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

/// Half of the chunks, half of that, …, rounded up: n − 1 for powers of two. After a halving, the one of
/// three that would get two has them.
double chunks_of_intervals(int n, bool after_halving) {
  double chunks = 0;
  for (; n > 1; n -= n / 2) {
    chunks += after_halving && n == 3 ? 1 : n - n / 2;
  }
  return chunks;
}

/// `write(round, aside, member)` for every rank that steps aside and the member beside it.
template <typename Write>
Phase folding(const Fold& fold, std::int32_t num_chunks, const Write& write) {
  const bool folds = fold.excess() > 0;
  return {.num_rounds = folds ? 1 : 0,
          .chunks = folds ? 1.0 * num_chunks : 0,
          .write = [excess = fold.excess(), write](std::int64_t /*step*/, RoundWriter& round) {
            for (int index = 0; index < excess; ++index) {
              write(round, 2 * index, 2 * index + 1);
            }
          }};
}

/// Every member gives away that half of the range that it still shares with its partner in which the
/// partner's chunks lie; those of members from `index` on begin at `begin(index)`.
template <typename Begin>
Phase halving(const Fold& fold, const Begin& begin) {
  const auto distance_in = [fold](std::int64_t step) { return fold.num_members() >> (step + 1); };
  const auto write = [fold, begin, distance_in](std::int64_t step, RoundWriter& round) {
    const int distance = distance_in(step);
    for (int index = 0; index < fold.num_members(); ++index) {
      const int partner = index ^ distance;
      const int first = partner & ~(distance - 1);
      round.reduce(fold.member(index), fold.member(partner), begin(first),
                   begin(first + distance) - begin(first));
    }
  };
  double chunks = 0;  // Member 0 sends the most: those that were folded in have two each.
  for (std::int64_t step = 0; step < fold.levels(); ++step) {
    chunks += begin(distance_in(step));
  }
  return reducing({.num_rounds = fold.levels(), .chunks = chunks, .write = write});
}

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

Phase chunk_by_chunk(std::int64_t num_rounds, std::function<void(std::int64_t, RoundWriter&)> write,
                     bool several_at_once) {
  return {.num_rounds = num_rounds,
          .chunks = static_cast<double>(num_rounds),
          .write = std::move(write),
          .several_at_once = several_at_once};
}

Phase reducing(Phase phase) {
  phase.reduced_chunks = phase.chunks;
  return phase;
}

Phase ring_reduce_scatter(const Ring& ring) {
  Phase phase = around(ring);
  phase.reduced_chunks = ring.segments == 1 ? phase.chunks : 0;
  phase.write = [ring](std::int64_t step, RoundWriter& round) {
    // Block b starts at member b+1 and arrives at its owner b after size−1 hops.
    write_ring_step(ring, 1 + static_cast<int>(step / ring.segments), static_cast<int>(step % ring.segments),
                    [&](Rank source, Rank target, std::int32_t chunk) {
                      round.reduce(source, target, chunk, ring.num_chunks);
                    });
  };
  return phase;
}

Phase ring_all_gather(const Ring& ring) {
  Phase phase = around(ring);
  phase.write = [ring](std::int64_t step, RoundWriter& round) {
    write_ring_step(ring, static_cast<int>(step / ring.segments), static_cast<int>(step % ring.segments),
                    [&](Rank source, Rank target, std::int32_t chunk) {
                      round.copy(source, target, chunk, ring.num_chunks);
                    });
  };
  return phase;
}

Phase linear_reduce(const ScheduleRequest& request, std::int32_t num_chunks) {
  return reducing(linear(request, num_chunks, [num_chunks](RoundWriter& round, Rank root, Rank other) {
    round.reduce(other, root, 0, num_chunks);
  }));
}

Phase linear_broadcast(const ScheduleRequest& request, std::int32_t num_chunks) {
  return linear(request, num_chunks, [num_chunks](RoundWriter& round, Rank root, Rank other) {
    round.copy(root, other, 0, num_chunks);
  });
}

Phase linear_gather(const ScheduleRequest& request) {
  return linear(request, 1,
                [](RoundWriter& round, Rank root, Rank other) { round.copy(other, root, other); });
}

Phase linear_scatter(const ScheduleRequest& request) {
  return linear(request, 1,
                [](RoundWriter& round, Rank root, Rank other) { round.copy(root, other, other); });
}

Phase circulation(int n) {
  const auto write = [n](std::int64_t round, RoundWriter& writer) {
    // Step by step the two scratch buffers change roles; the first step sends the message itself.
    const std::int64_t step = round / 2;
    const std::uint8_t received = step % 2 == 0 ? kReceived : kSent;
    const std::uint8_t sent = step == 0 ? kAccumulator : (step % 2 == 0 ? kSent : kReceived);
    if (round % 2 == 0) {
      write_hop(n, sent, received, writer);
    } else {
      write_local_reduction(n, received, writer);
    }
  };
  return {.num_rounds = 2 * (n - 1),
          .local_rounds = n - 1,
          .chunks = n - 1.0,
          .reduced_chunks = n - 1.0,
          .write = write,
          .period = 2};
}

Phase circulating_copy(int n) {
  const auto write = [n](std::int64_t round, RoundWriter& writer) {
    const bool even = round % 2 == 0;
    write_hop(n, even ? kAccumulator : kReceived, even ? kReceived : kAccumulator, writer);
  };
  return {.num_rounds = n - 1, .chunks = n - 1.0, .write = write, .period = 1};
}

Phase binomial_reduce(const ScheduleRequest& request) {
  const int levels = num_doublings(request.num_ranks);
  const auto write = [n = request.num_ranks, root = request.root](std::int64_t step, RoundWriter& round) {
    for_each_branch(n, root, 1 << step, [&](Rank parent, Rank child) { round.reduce(child, parent, 0); });
  };
  return reducing(chunk_by_chunk(levels, write));
}

Phase binomial_broadcast(const ScheduleRequest& request) {
  const int levels = num_doublings(request.num_ranks);
  const auto write = [n = request.num_ranks, root = request.root, levels](std::int64_t step,
                                                                          RoundWriter& round) {
    for_each_branch(n, root, 1 << (levels - 1 - step),
                    [&](Rank parent, Rank child) { round.copy(parent, child, 0); });
  };
  return chunk_by_chunk(levels, write);
}

Phase interval_doubling(int n, Rank root, bool after_halving) {
  const int levels = num_doublings(n);
  const auto write = [=](std::int64_t step, RoundWriter& round) {
    const auto copy = [&](int source, int target, int first, int last) {
      round.copy(wrapped(root + source, n), wrapped(root + target, n), first, last - first);
    };
    for_each_interval(n, levels - 1 - static_cast<int>(step), [&](int begin, int middle, int end) {
      for (int right = middle; right < end; ++right) {
        const int left = std::min(begin + right - middle, middle - 1);
        copy(left, right, begin, middle);
        if (begin + right - middle < middle && !(after_halving && right == middle)) {
          copy(right, left, middle, end);
        }
      }
    });
  };
  return {.num_rounds = levels,
          .chunks = chunks_of_intervals(n, after_halving),
          .write = write,
          .several_at_once = Fold(n).excess() > 0};
}

Phase interval_halving(int n, Rank root) {
  const auto write = [=](std::int64_t step, RoundWriter& round) {
    for_each_interval(n, static_cast<int>(step), [&](int begin, int middle, int end) {
      round.copy(wrapped(root + begin, n), wrapped(root + middle, n), middle, end - middle);
    });
  };
  return {.num_rounds = num_doublings(n), .chunks = chunks_of_intervals(n, false), .write = write};
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

Phase fold_in(const Fold& fold, std::int32_t num_chunks) {
  return reducing(folding(fold, num_chunks, [num_chunks](RoundWriter& round, Rank aside, Rank member) {
    round.reduce(aside, member, 0, num_chunks);
  }));
}

Phase fold_out(const Fold& fold, std::int32_t num_chunks) {
  return folding(fold, num_chunks, [num_chunks](RoundWriter& round, Rank aside, Rank member) {
    round.copy(member, aside, 0, num_chunks);
  });
}

Phase recursive_halving(const Fold& fold) {
  return halving(fold, [](int index) { return index; });
}

Phase recursive_halving_of_ranks(const Fold& fold) {
  return halving(fold, [fold](int index) { return fold.begin(index); });
}

Phase recursive_doubling(const Fold& fold) {
  const auto write = [fold](std::int64_t step, RoundWriter& round) {
    const int distance = 1 << step;
    for (int index = 0; index < fold.num_members(); ++index) {
      round.copy(fold.member(index), fold.member(index ^ distance), index & ~(distance - 1), distance);
    }
  };
  return {.num_rounds = fold.levels(), .chunks = fold.num_members() - 1.0, .write = write};
}

}  // namespace ringside
