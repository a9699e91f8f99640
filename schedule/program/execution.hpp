#pragma once

#include <cstdint>
#include <vector>

#include "common/names.hpp"
#include "common/units.hpp"
#include "results/policy.hpp"
#include "schedule/chunk_layout.hpp"
#include "schedule/schedule.hpp"

namespace ringside {

/// Bytes of a buffer.
struct ByteRange {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
};

/// A schedule as it runs: with a message of one size, under one execution policy. Its rounds and each move's
/// bytes are defined here, once: programs, simulations and the proof read it.
///
/// Under a policy with segments every chunk c is cut into segments, numbered c·segments … (c + 1)·segments −
/// 1 in the moves' `first_chunk`, and each goes its way on its own: segment g does round t of the schedule in
/// round g + stride·t. With a stride of `segments` rounds follow one another; with a shorter one rounds mix
/// segments. Every move of the schedule must then be one of a single chunk (see policy_for).
class Execution {
 public:
  /// Throws Error{bad_input} when `size` is no whole number of elements. Its order is the schedule's.
  Execution(Schedule schedule, Bytes size, DataType dtype, ExecutionPolicy policy = {});

  const Schedule& schedule() const { return schedule_; }
  const ExecutionPolicy& policy() const { return policy_; }
  int num_ranks() const { return schedule_.num_ranks(); }
  std::int64_t num_rounds() const {
    return policy_.segments == 1 ? schedule_.num_rounds()
                                 : policy_.segments + policy_.stride * (schedule_.num_rounds() - 1);
  }

  /// Replaces `moves` by those of the round (0 … num_rounds−1) that carry bytes; no others are executed.
  void write_round(std::int64_t round, std::vector<Move>& moves) const;

  /// How many bytes a move carries.
  std::int64_t bytes(const Move& move) const {
    return policy_.segments == 1 ? element_size_ * layout_.elements(move.first_chunk, move.num_chunks).count
                                 : range(move).bytes;
  }
  /// Which bytes of its buffers these are.
  ByteRange range(const Move& move) const;

  /// Whether some moves of the schedule carry no bytes: there are fewer elements than chunks.
  bool has_empty_chunks() const { return layout_.num_elements() < layout_.num_chunks(); }

  /// All chunks have the same length.
  bool has_even_chunks() const { return layout_.num_elements() % layout_.num_chunks() == 0; }

 private:
  void write_segments(std::int64_t round, std::vector<Move>& moves) const;

  Schedule schedule_;
  ExecutionPolicy policy_;
  std::int64_t element_size_;
  ChunkLayout layout_;
  bool has_empty_moves_ = false;
};

}  // namespace ringside
