#include "sim/receivers.hpp"

#include <utility>

#include "schedule/receive_ahead.hpp"
#include "sim/index.hpp"

namespace ringside {

void Receivers::come_to(std::span<const Move> round) {
  for (RankState& rank : ranks_) {
    if (!rank.moves.empty()) {
      std::swap(rank.before, rank.moves);
      rank.moves.clear();
    }
  }
  for (const Move& move : round) {
    ranks_[at(move.source)].moves.push_back(move);
    if (!move.local()) {
      ranks_[at(move.target)].moves.push_back(move);
    }
  }
  for (Rank rank = 0; at(rank) < ranks_.size(); ++rank) {
    RankState& state = ranks_[at(rank)];
    const std::int64_t bytes = to_reduce(rank, state.moves);
    state.ahead = may_receive_during(rank, state.before, state.moves) &&
                  (bytes == 0 || bytes + to_reduce(rank, state.before) <= kMostReceivedAhead);
  }
}

Receiver Receivers::of(const Move& move) const {
  const RankState& target = ranks_[at(move.target)];
  if (move.local() || (target.before.empty() && ranks_[at(move.source)].before.empty())) {
    return Receiver::fresh;
  }
  return target.ahead ? Receiver::ready : Receiver::in_turn;
}

std::int64_t Receivers::to_reduce(Rank rank, std::span<const Move> moves) const {
  std::int64_t bytes = 0;
  for (const Move& move : moves) {
    if (move.target == rank && !move.local() && move.kind == MoveKind::reduce) {
      bytes += sizes_.bytes(move);
    }
  }
  return bytes;
}

}  // namespace ringside
