#pragma once

#include <cstdint>

#include "schedule/schedule.hpp"

/// Parts that several algorithms are made of.
namespace ringside {

/// `value` modulo `n`, for −n <= value < 2n. Rounds of thousands of moves are written in hot loops.
inline int wrapped(int value, int n) {
  if (value < 0) {
    return value + n;
  }
  return value >= n ? value - n : value;
}

/// `size` positions in a circle: first, first + stride, first + 2·stride, … Member m owns the block of chunks
/// [first_chunk + m·chunk_stride, … + num_chunks).
struct Ring {
  int size = 1;
  Rank first = 0;
  Rank stride = 1;
  std::int32_t first_chunk = 0;
  std::int32_t chunk_stride = 1;
  std::int32_t num_chunks = 1;

  Rank member(int index) const { return first + index * stride; }
  std::int32_t block(int index) const { return first_chunk + index * chunk_stride; }
};

/// Step 0 … size−2 of a reduce_scatter around the ring: every member ends with its own block reduced.
void write_ring_reduce_scatter(const Ring& ring, std::int64_t step, RoundWriter& round);

/// Step 0 … size−2 of an all_gather around the ring: every member starts with its own block alone.
void write_ring_all_gather(const Ring& ring, std::int64_t step, RoundWriter& round);

}  // namespace ringside
