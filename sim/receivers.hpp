#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedule/schedule.hpp"
#include "sim/chunk_sizes.hpp"
#include "sim/medium.hpp"

namespace ringside {

/// Which messages the executor's ranks have started to receive before they come to their round: a schedule is gone through
/// round by round.
class Receivers {
 public:
  /// `sizes` must outlive the receivers.
  Receivers(int num_ranks, const ChunkSizes& sizes)
      : ranks_(static_cast<std::size_t>(num_ranks)), sizes_(sizes) {}

  /// The moves of the next round that carry bytes.
  void come_to(std::span<const Move> round);
  /// Of a move of that round.
  Receiver of(const Move& move) const;

 private:
  struct RankState {
    std::vector<Move> moves;   ///< Its part of the round.
    std::vector<Move> before;  ///< Of the last one in which it had a part.
    bool ahead = false;
  };

  /// Bytes of these moves that arrive to be reduced.
  std::int64_t to_reduce(Rank rank, std::span<const Move> moves) const;

  std::vector<RankState> ranks_;
  const ChunkSizes& sizes_;
};

}  // namespace ringside
