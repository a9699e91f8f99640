#pragma once

#include <cstdint>

#include "schedule/schedule.hpp"

/// The single place where chunks become elements; predicting and running both use it.
namespace ringside {

struct ElementRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
  bool operator==(const ElementRange&) const = default;
};

/// Cuts `num_elements` into `num_chunks` contiguous chunks as evenly as possible: the first
/// num_elements mod num_chunks chunks hold one element more. Chunks may be empty.
class ChunkLayout {
 public:
  ChunkLayout(std::int64_t num_elements, std::int32_t num_chunks);

  std::int64_t num_elements() const { return num_elements_; }
  std::int32_t num_chunks() const { return num_chunks_; }
  /// Elements of chunks [first_chunk, first_chunk + count).
  ElementRange elements(std::int32_t first_chunk, std::int32_t count = 1) const {
    const std::int64_t first = offset(first_chunk);
    return {.first = first, .count = offset(first_chunk + count) - first};
  }

 private:
  std::int64_t offset(std::int32_t chunk) const {
    return chunk * small_ + (chunk < num_large_ ? chunk : num_large_);
  }

  std::int64_t num_elements_;
  std::int32_t num_chunks_;
  std::int64_t small_;      ///< Elements of a small chunk.
  std::int64_t num_large_;  ///< Chunks with one element more.
};

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
