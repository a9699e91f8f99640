#pragma once

#include <cstdint>
#include <vector>

#include "common/names.hpp"
#include "common/units.hpp"
#include "schedule/chunk_layout.hpp"
#include "schedule/schedule.hpp"

namespace ringside {

/// How many bytes each move of a schedule carries, for one message size.
class ChunkSizes {
 public:
  /// Throws Error{bad_input} when `size` is not a whole number of elements.
  ChunkSizes(Bytes size, DataType dtype, std::int32_t num_chunks);

  std::int64_t bytes(const Move& move) const {
    return element_size_ * layout_.elements(move.first_chunk, move.num_chunks).count;
  }
  /// Whether there are fewer elements than chunks.
  bool has_empty_chunks() const { return layout_.num_elements() < layout_.num_chunks(); }

 private:
  std::int64_t element_size_;
  ChunkLayout layout_;
};

/// Replaces `moves` by those of the round that carry bytes: the executor drops the others, too.
void write_moves(const Schedule& schedule, const ChunkSizes& sizes, std::int64_t round,
                 std::vector<Move>& moves);

}  // namespace ringside
