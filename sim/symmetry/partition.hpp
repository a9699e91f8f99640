#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/units.hpp"
#include "schedule/program/execution.hpp"
#include "schedule/schedule.hpp"
#include "sim/topology/network.hpp"

/// The certificate of a quotient simulation: which ranks, links and moves do the same at the same time.
/// find.hpp writes it, check.hpp verifies it, quotient.hpp reads nothing else.
///
/// An execution is cut into stages, runs of consecutive rounds. Within one the partition is *equitable*:
///
///   (1)  all ranks of a class have the same γ, slowdown and entry: the same classes of moves end
///        before they are ready, and they owe the same reductions;
///   (2)  all moves of a class have the same round, kind, bytes, latency and slowdown, ranks' classes at both
///        ends, reductions to wait for there, and number of links of each class, crossed equally often;
///   (3)  every rank of a class starts, and receives, equally many moves of each class;
///   (4)  every link of a class has the same capacity and is crossed equally often by as many moves of each
///        class. A link that all flows of the stage together cannot fill has no class.
///
/// Then, by induction over events, all members of a class are in the same state at every moment: moves of a
/// class become ready together by (1) to (3), and the fair shares of their flows are equal, because
/// progressive filling (max_min_solver.hpp) sees of each flow only capacities and numbers of flows, which (2)
/// and (4) make equal. What one member of each class does, with the numbers of (3) and (4), is then what all
/// do. A new stage may join ranks that were apart, because a rank's past counts through its entry alone. The
/// simulation sees that no transfer of a stage starts before the last of the stage before it has ended, which
/// makes one partition of the links after another lawful; where it does not, the two stages become one.
namespace ringside {

/// Members of a link's class that a move crosses, and how often each.
struct Crossing {
  std::int32_t link_class = 0;
  std::int32_t times = 1;
  std::int32_t links = 1;  ///< So many links of that class.

  bool operator==(const Crossing&) const = default;
};

/// What a move is to the ranks at one of its ends.
struct MoveEnd {
  std::int32_t rank_class = 0;
  std::int32_t moves = 1;  ///< Moves of this class at every rank of that class.
  /// It waits for the rank's reductions of this many rounds before, or earlier; 0 = for none.
  std::int32_t behind = 0;
  /// At a source: it reads what a reduction of the same round writes, which waits until it is sent.
  bool holds = false;

  bool operator==(const MoveEnd&) const = default;
};

struct MoveClass {
  std::int32_t round = 0;  ///< Its place in PartitionStage::move_class.
  MoveKind kind = MoveKind::copy;
  bool local = false;
  std::int64_t bytes = 0;
  double latency = 0;   ///< Seconds of its route.
  double slowdown = 1;  ///< That of the slower end.
  double alone = 0;     ///< Bytes per second when nothing else goes on; infinite on no links.
  MoveEnd source = {};
  MoveEnd target = {};  ///< As the source where it is local.
  std::vector<Crossing> crossings = {};
  std::int64_t members = 0;
};

/// Counts one more link of such a crossing.
void add_crossing(std::vector<Crossing>& crossings, std::int32_t link_class, std::int32_t times);

/// Moves of one class over one link.
struct LinkLoad {
  std::int32_t move_class = 0;
  std::int32_t times = 1;  ///< That each of them crosses it.
  std::int32_t flows = 0;  ///< How many there are.

  bool operator==(const LinkLoad&) const = default;
};

struct LinkClass {
  double capacity = 0;  ///< Bytes per second.
  std::vector<LinkLoad> loads = {};
  std::int64_t members = 0;
};

/// A class of a stage, of ranks or of moves.
struct StageClass {
  std::int32_t stage = -1;  ///< -1 = none
  std::int32_t number = 0;

  bool operator==(const StageClass&) const = default;
};

/// All that a rank brings into a stage.
struct RankEntry {
  std::vector<StageClass> ready_after;  ///< Classes of moves, ascending. Empty = it is ready from the start.
  StageClass owes;                      ///< The class of ranks whose reductions may still be pending.

  bool operator==(const RankEntry&) const = default;
};

struct RankClass {
  double reduction = 0;  ///< γ, seconds per byte.
  double slowdown = 1;
  RankEntry entry;
  std::int64_t members = 0;
};

struct PartitionStage {
  std::vector<RepeatedRounds> lines = {};  ///< Which rounds of the execution.
  /// No flow holds another back: every crossed link is so wide, or its flows follow one another: at most one
  /// a round, all from one rank or all to one rank. Links have no classes then.
  bool free_flow = false;
  std::vector<RankClass> ranks = {};
  std::vector<LinkClass> links = {};
  std::vector<MoveClass> moves = {};
  std::vector<std::int32_t> rank_class = {};  ///< By rank.
  std::vector<std::int32_t> link_class =
      {};  ///< By link; kNoClass = it is not crossed, or never holds anything back.
  /// By round and move, as the execution writes them: each line's first `period` rounds.
  std::vector<std::vector<std::int32_t>> move_class = {};
};

inline constexpr std::int32_t kNoClass = -1;

/// Flows of a stage over one link, told round after round.
class LinkFlows {
 public:
  void add(const Move& move, std::int32_t round) {
    one_a_round_ = one_a_round_ && round != last_round_;
    one_source_ = one_source_ && (last_round_ < 0 || source_ == move.source);
    one_target_ = one_target_ && (last_round_ < 0 || target_ == move.target);
    last_round_ = round;
    source_ = move.source;
    target_ = move.target;
  }
  /// At most one a round, all from one rank or all to one rank: see PartitionStage::free_flow.
  bool follow_one_another() const { return one_a_round_ && (one_source_ || one_target_); }

 private:
  std::int32_t last_round_ = -1;
  Rank source_ = 0;
  Rank target_ = 0;
  bool one_source_ = true;
  bool one_target_ = true;
  bool one_a_round_ = true;
};

struct Partition {
  std::vector<PartitionStage> stages;
};

/// A partition that was found on one network, to be tried on the next.
struct KnownPartition {
  Partition partition;
  std::vector<bool> carried;  ///< By link: whether a move carries bytes over it.
};

/// By class of ranks: the moves of the stage that it is ready after (RankEntry), which are those of the last
/// round in which it has any. Empty = it has no part in the stage, its partition's `number`th.
std::vector<std::vector<StageClass>> last_moves(const PartitionStage& stage, std::int32_t number);

/// The partition with the numbers of another network: each class has those of its first member. A proposal:
/// whether the other members have them, too, is for the checker to say. None where the execution has other
/// ranks, links or rounds than the partition.
std::optional<Partition> with_numbers_of(const Partition& known, const Execution& execution,
                                         const Network& network);

}  // namespace ringside
