#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedule/program/execution.hpp"
#include "schedule/schedule.hpp"

/// When a rank posts receives before it reaches their round. Programs are compiled by this rule, and the flow
/// simulation asks it which receives are posted.
namespace ringside {

/// What a rank does in one round. Moves in which it has no part may stand among them; all carry bytes.
struct RankPart {
  std::span<const Move> moves;
  std::int64_t to_reduce = 0;  ///< Bytes that it receives to be reduced.
};

/// Whether a rank may post the receives of the round `later` while it is in the first of the rounds `before`,
/// which lead up to it. Whoever sends to it then must do so in all rounds between (messages of one direction
/// arrive in order, so nothing comes before its turn), what is copied into place must find it untouched by
/// them, and what is to be reduced must not need much memory.
bool may_post_ahead(Rank rank, std::span<const RankPart> before, const RankPart& later);

/// What the ranks of a transfer did before it.
enum class Receiver : std::uint8_t {
  fresh,    ///< Nothing.
  in_turn,  ///< Their earlier rounds.
  ready,    ///< The same, and the target has posted the receive in its round before.
};

/// Goes through an execution round by round and tells in which state the receivers of its messages are.
class Receivers {
 public:
  /// `execution` must outlive the receivers.
  explicit Receivers(const Execution& execution)
      : ranks_(static_cast<std::size_t>(execution.num_ranks())), execution_(execution) {}

  /// `round` holds the moves of the next round that carry bytes.
  void reach(std::span<const Move> round);
  /// The receiver of a move of that round.
  Receiver of(const Move& move) const;

 private:
  struct RankState {
    std::vector<Move> moves;   ///< Its part of the round.
    std::vector<Move> before;  ///< Its part of the last round in which it had one.
    bool ahead = false;
  };

  RankPart part(Rank rank, std::span<const Move> moves) const;

  std::vector<RankState> ranks_;
  const Execution& execution_;
};

}  // namespace ringside
