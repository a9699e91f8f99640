#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schedule/program/execution.hpp"
#include "sim/symmetry/partition.hpp"
#include "sim/symmetry/refine.hpp"
#include "sim/symmetry/waits.hpp"
#include "sim/topology/network.hpp"

namespace ringside {

/// Which entries ranks have, by rank and by number.
struct RankEntries {
  std::vector<std::int32_t> of_rank;
  std::vector<RankEntry> rows;
};

/// Finds a partition's stages, one at a time, by colour refinement of moves joined with the network.
class PartitionFinder {
 public:
  /// Both must outlive the finder. With an obstacle() no partition can be found.
  PartitionFinder(const Execution& execution, const Network& network);

  /// Why the execution has no partition that could be found, a clause; none where it has.
  const std::optional<std::string>& obstacle() const { return obstacle_; }
  /// The rounds of the execution, those that repeat told once.
  const std::vector<RepeatedRounds>& lines() const { return lines_; }

  /// By link: whether a move of a stage that was found carries bytes over it.
  const std::vector<bool>& carried() const { return carried_; }

  /// The first line after `first` in which other ranks talk to each other than in the line before it.
  std::size_t next_pattern(std::size_t first);

  RankEntries first_entries() const;
  /// The stage of lines first … last−1, which ranks enter as told.
  PartitionStage find(std::size_t first, std::size_t last, const RankEntries& entries);
  /// How ranks enter what follows it.
  RankEntries after(const PartitionStage& stage, std::int32_t number, std::size_t last,
                    const RankEntries& before) const;

 private:
  /// A move of the stage that is being found.
  struct StageMove {
    std::int32_t round = 0;
    Move move;
    std::int64_t bytes = 0;
    double latency = 0;
    double inverse_bandwidth = 0;  ///< Seconds per byte of the route.
    double slowdown = 1;
    MoveWaits waits;
  };
  /// One link of a route.
  struct Use {
    std::int32_t link = 0;
    std::int32_t times = 1;
  };

  bool same_ends(std::size_t line, std::size_t other);
  void collect(std::size_t first, std::size_t last);
  void add_move(const Move& move, std::int32_t round, const MoveWaits& waits);
  void leave_out_wide_links();
  bool flows_freely() const;
  Colours colour(const RankEntries& entries);
  void write_ranks(const RankEntries& entries, const Colours& colours, PartitionStage& stage) const;
  void write_moves(const Colours& colours, std::int32_t num_rank_classes, PartitionStage& stage) const;
  void write_links(const Colours& colours, std::int32_t num_rank_classes, PartitionStage& stage) const;

  const Execution& execution_;
  const Network& network_;
  std::optional<std::string> obstacle_;
  std::vector<RepeatedRounds> lines_;
  std::vector<LineWaits> waits_;  ///< By line; empty where no reduction takes time.

  std::vector<StageMove> moves_;
  std::vector<std::int32_t> first_use_;  ///< By move, and one more.
  std::vector<Use> uses_;
  std::int32_t num_rounds_ = 0;
  bool free_flow_ = false;
  std::vector<double> most_;             ///< By link: what its flows take together at most, bytes per second.
  std::vector<std::int32_t> link_node_;  ///< By link: its number among those that are kept, or kNoClass.
  std::vector<std::int32_t> kept_;       ///< Links, by that number.
  std::vector<bool> carried_;
  std::vector<double> inverse_capacity_;  ///< By link, seconds per byte.
  std::vector<double> latency_;           ///< By link, seconds.
  std::vector<Move> other_round_;
  std::vector<Move> round_;
  std::vector<std::int32_t> route_;
};

/// Why a partition is not looked for, before anything is computed; none where it may be.
std::optional<std::string> symmetry_obstacle(const Execution& execution, const Network& network);

}  // namespace ringside
