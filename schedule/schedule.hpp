#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/names.hpp"
#include "common/units.hpp"
#include "results/point.hpp"

/// What a schedule is: round by round, which chunks move from which rank to which, and whether what arrives
/// is copied or reduced. It has no byte sizes (see chunk_layout.hpp) and knows no hardware.
namespace ringside {

enum class MoveKind : std::uint8_t {
  copy,    ///< The target's chunks become the source's.
  reduce,  ///< The source's chunks are reduced into the target's.
};

/// One transfer of chunks [first_chunk, first_chunk + num_chunks). A move whose source is its target is
/// local: no message, only the copy or reduction.
struct Move {
  Rank source = 0;
  Rank target = 0;
  std::int32_t first_chunk = 0;
  std::int32_t num_chunks = 1;
  MoveKind kind = MoveKind::copy;
  /// Buffer 0 is the message itself. Further buffers are scratch of the same layout, undefined at the start.
  std::uint8_t source_buffer = 0;
  std::uint8_t target_buffer = 0;

  bool local() const { return source == target; }
  bool operator==(const Move&) const = default;
};

/// Everything a schedule depends on. `order` places the algorithm's positions on ranks: position p runs on
/// rank order[p]; empty is the identity. It changes neighbours, never the result: root stays root, and a
/// collective with data spread over ranks (gather, all_gather, reduce_scatter) refuses any other order.
struct ScheduleRequest {
  Collective collective = Collective::all_reduce;
  int num_ranks = 1;
  Rank root = 0;
  int ranks_per_node = 0;  ///< For hierarchical; 0 = all ranks are in one node.
  int segments = 0;        ///< For pipelined algorithms: segments per chunk; 0 = the algorithm's default.
  std::vector<Rank> order = {};
};

/// Rounds first … first + period·times − 1, in which the first `period` rounds come `times` times. Round j
/// and its images j + period, j + 2·period, … list their moves in the same order, with the same source,
/// target, kind and number of chunks. Chunks and buffers may differ, but not what touches what: moves of two
/// rounds touch the same memory of a rank exactly where their images do, which are `period` rounds later.
struct RepeatedRounds {
  std::int64_t first = 0;
  std::int64_t period = 1;
  std::int64_t times = 1;
  /// The period is 1, and a rank sends in each image exactly the chunks that it received in the round before.
  bool passes_on = false;

  std::int64_t end() const { return first + period * times; }
  bool operator==(const RepeatedRounds&) const = default;
};

/// Costs along the critical path on private full-duplex links, per byte of the buffer S that chunks are parts
/// of (the message, but for all_to_all and send_recv; messages_in_buffer()):
/// time = α·messages + β·S·bytes + γ·S·reduced_bytes.
struct CriticalPath {
  double messages = 0;
  double bytes = 0;
  double reduced_bytes = 0;
};

/// Collects the moves of one round. All moves of a round read the values from before it. A rank's transfers
/// of one round start together; there is no barrier between rounds: a move starts when both ranks have
/// reached its round and conflicting reductions are complete (docs/architecture.md, "How a schedule runs").
///
/// A chunk may be sent by the rank that reduces into it in the same round (an exchange), and several
/// reductions into one chunk are fine. A copy must not go into a chunk that its rank sends, copies into or
/// reduces into in the same round.
class RoundWriter {
 public:
  explicit RoundWriter(std::vector<Move>& moves) : moves_(moves) {}

  void copy(Rank source, Rank target, std::int32_t first_chunk, std::int32_t num_chunks = 1) {
    moves_.push_back(
        {.source = source, .target = target, .first_chunk = first_chunk, .num_chunks = num_chunks});
  }
  void reduce(Rank source, Rank target, std::int32_t first_chunk, std::int32_t num_chunks = 1) {
    moves_.push_back({.source = source,
                      .target = target,
                      .first_chunk = first_chunk,
                      .num_chunks = num_chunks,
                      .kind = MoveKind::reduce});
  }
  /// A move between named buffers.
  void add(const Move& move) { moves_.push_back(move); }

 private:
  std::vector<Move>& moves_;
};

/// Rounds of one kind that follow those of the phase before, such as an all_gather around a ring.
struct Phase {
  std::int64_t num_rounds = 0;
  std::int64_t local_rounds = 0;  ///< Those in which no message is sent.
  /// How many chunks are sent, and reduced, one after another along the critical path.
  double chunks = 0;
  double reduced_chunks = 0;
  /// Writes round `step` of the phase, 0 … num_rounds−1.
  std::function<void(std::int64_t step, RoundWriter&)> write = {};
  std::int64_t period = 0;  ///< So many rounds repeat, as in RepeatedRounds; 0 = none do.
  bool passes_on = false;   ///< Likewise.
  /// Whether some rank may send, or receive, several messages in one round.
  bool several_at_once = false;
};

/// What an algorithm is for one request.
struct Outline {
  std::int32_t num_chunks = 1;   ///< k: the message is cut into k chunks.
  std::int32_t num_buffers = 1;  ///< 1 = the message alone.
  std::vector<Phase> phases = {};
};

/// An algorithm: a row of the registry. Both functions are pure; `unsupported` has said nothing when
/// `outline` is called.
struct Algorithm {
  std::string_view name;
  Collective collective = Collective::all_reduce;  ///< The registry sets it.
  std::string_view summary;                        ///< One line: what it does.
  std::string_view wins_when;                      ///< One line: when it is the fastest.
  std::optional<std::string> (*unsupported)(const ScheduleRequest&) = nullptr;  ///< Null = supports all.
  Outline (*outline)(const ScheduleRequest&) = nullptr;
};

/// An algorithm for a number of ranks: what is proved, predicted, run and drawn. Cheap to copy; rounds are
/// made on demand, so it takes no memory in proportion to moves.
class Schedule {
 public:
  /// Throws Error{bad_input} with the reason when the request makes no sense (fewer than one rank, a root
  /// that is no rank, an `order` that is not a permutation of the ranks) or the algorithm does not support
  /// it. `algorithm` must outlive the schedule; those of the registry always do.
  Schedule(const Algorithm& algorithm, ScheduleRequest request);

  const Algorithm& algorithm() const { return *algorithm_; }
  const ScheduleRequest& request() const { return request_; }
  int num_ranks() const { return request_.num_ranks; }
  std::int32_t num_chunks() const { return outline_->num_chunks; }
  std::int32_t num_buffers() const { return outline_->num_buffers; }
  std::int64_t num_rounds() const { return num_rounds_; }
  CriticalPath critical_path() const;
  /// Whether some rank may send, or receive, several messages in one round.
  bool several_at_once() const;
  /// All rounds in order, in as few lines as possible: a round without images is a line of its own.
  std::vector<RepeatedRounds> repeats() const;

  /// Replaces `moves` by those of `round` (0 … num_rounds−1).
  void write_round(std::int64_t round, std::vector<Move>& moves) const;

 private:
  const Algorithm* algorithm_;
  ScheduleRequest request_;
  std::shared_ptr<const Outline> outline_;  ///< It speaks of positions, not of ranks.
  std::int64_t num_rounds_ = 0;
};

/// How the ranks of a machine stand: sim finds it out, and real runs what was predicted.
struct RankPlacement {
  int ranks_per_node = 0;        ///< 0 = all ranks are in one node.
  std::vector<Rank> order = {};  ///< Position in a ring → rank; empty = identity.
};

/// Where each rank ends with its own part of the message (`scattered`), positions are ranks in any order.
ScheduleRequest request_for(Collective collective, int num_ranks, const RankPlacement& placement);

// What each collective starts from and what it promises, chunk by chunk, as its row says
// (common/collective.hpp). Proofs and programs ask here; the check of results does not.

/// The bytes of what messages_in_buffer() counts.
Bytes buffer_of_message(Collective collective, int num_ranks, Bytes message);
Bytes buffer_of(const PointKey& key);

/// Whether `rank` holds data of its own in `chunk` at the start. Everything else in its message is undefined.
bool holds_at_start(const Schedule& schedule, Rank rank, std::int32_t chunk);

/// Whether `rank` must hold the result of `chunk` at the end: the reduction of every rank's chunk where the
/// collective reduces, otherwise the chunk of the rank that held it at the start.
bool promised_at_end(const Schedule& schedule, Rank rank, std::int32_t chunk);

}  // namespace ringside
