#pragma once

#include <cstdint>

#include "schedule/schedule.hpp"

namespace ringside {

/// Chunks of one buffer of one rank: what moves and reductions conflict about.
struct ChunkRange {
  std::int32_t first = 0;
  std::int32_t count = 0;
  std::uint8_t buffer = 0;

  bool touches(const ChunkRange& other) const {
    return buffer == other.buffer && first < other.first + other.count && other.first < first + count;
  }
  bool operator==(const ChunkRange&) const = default;
};

inline ChunkRange read_by(const Move& move) {
  return {move.first_chunk, move.num_chunks, move.source_buffer};
}
inline ChunkRange written_by(const Move& move) {
  return {move.first_chunk, move.num_chunks, move.target_buffer};
}

}  // namespace ringside
