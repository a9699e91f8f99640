#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedule/chunk_layout.hpp"
#include "schedule/program/execution.hpp"
#include "sim/symmetry/partition.hpp"

namespace ringside {

/// Checks what a partition says of moves that wait for reductions: goes through the rounds of its lines, with
/// the reductions that each rank owes, and compares.
class WaitCheck {
 public:
  explicit WaitCheck(const Execution& execution);

  /// The stage's lines follow those that were checked before. Appends faults.
  void check(const PartitionStage& stage, std::vector<std::string>& faults);
  /// Whether reductions may be pending at the rank after the stages that were checked.
  bool owes(Rank rank) const { return !ranks_[static_cast<std::size_t>(rank)].owed.empty(); }

 private:
  struct Owed {
    std::int32_t turn = 0;
    ChunkRange range;
    std::int64_t bytes = 0;
    bool local = false;
  };
  struct RankState {
    std::int64_t round = -1;
    std::int32_t turn = 0;
    std::int32_t sure_from = 0;  ///< The turn from which on `owed` is complete.
    std::int32_t cleared = 0;    ///< Reductions up to this turn are complete when the round is.
    std::vector<Owed> owed;
    std::vector<Owed> now;  ///< Reductions of this round.
  };

  void check_line(const PartitionStage& stage, const RepeatedRounds& line, std::size_t first_round,
                  std::vector<std::string>& faults);
  void check_round(const PartitionStage& stage, std::int64_t round, const std::vector<std::int32_t>& classes,
                   std::vector<std::string>& faults);
  std::string look_at(const Move& move, const MoveClass& row);
  std::string compare(RankState& rank, const std::vector<ChunkRange>& ranges, std::int32_t behind) const;
  RankState& enter(Rank rank, std::int64_t round);
  void leave();

  const Execution& execution_;
  std::vector<RankState> ranks_;
  std::vector<Rank> entered_;  ///< Ranks that have moves in the round.
  std::vector<Move> moves_;
};

}  // namespace ringside
