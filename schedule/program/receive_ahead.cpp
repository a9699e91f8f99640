#include "schedule/program/receive_ahead.hpp"

#include <algorithm>
#include <utility>

#include "common/numbers.hpp"
#include "schedule/chunk_layout.hpp"

namespace ringside {
namespace {

/// What is to be reduced is received into memory of its own: up to so many bytes for a round whose receives
/// are posted ahead and all rounds before it. The wait that is saved is a small part of longer messages.
constexpr std::int64_t kMostReceivedAhead = 64 << 20;

bool received_by(Rank rank, const Move& move) { return move.target == rank && !move.local(); }

bool touches(Rank rank, const Move& move, const ChunkRange& chunks) {
  return (move.source == rank && read_by(move).touches(chunks)) ||
         (move.target == rank && written_by(move).touches(chunks));
}

bool may_receive_during(Rank rank, std::span<const Move> during, std::span<const Move> later) {
  return std::ranges::all_of(later, [&](const Move& early) {
    if (!received_by(rank, early)) {
      return true;
    }
    const bool same_source = std::ranges::any_of(
        during, [&](const Move& move) { return received_by(rank, move) && move.source == early.source; });
    return same_source &&
           (early.kind == MoveKind::reduce || std::ranges::none_of(during, [&](const Move& move) {
              return touches(rank, move, written_by(early));
            }));
  });
}

}  // namespace

bool may_post_ahead(Rank rank, std::span<const RankPart> before, const RankPart& later) {
  std::int64_t to_reduce = later.to_reduce;
  for (const RankPart& round : before) {
    if (!may_receive_during(rank, round.moves, later.moves)) {
      return false;
    }
    to_reduce += round.to_reduce;
  }
  return later.to_reduce == 0 || to_reduce <= kMostReceivedAhead;
}

void Receivers::reach(std::span<const Move> round) {
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
  if (!execution_.policy().receives_ahead) {
    return;
  }
  for (Rank rank = 0; at(rank) < ranks_.size(); ++rank) {
    RankState& state = ranks_[at(rank)];
    const RankPart before = part(rank, state.before);
    state.ahead = may_post_ahead(rank, {&before, 1}, part(rank, state.moves));
  }
}

Receiver Receivers::of(const Move& move) const {
  const RankState& target = ranks_[at(move.target)];
  if (move.local() || (target.before.empty() && ranks_[at(move.source)].before.empty())) {
    return Receiver::fresh;
  }
  return target.ahead ? Receiver::ready : Receiver::in_turn;
}

RankPart Receivers::part(Rank rank, std::span<const Move> moves) const {
  std::int64_t bytes = 0;
  for (const Move& move : moves) {
    if (received_by(rank, move) && move.kind == MoveKind::reduce) {
      bytes += execution_.bytes(move);
    }
  }
  return {.moves = moves, .to_reduce = bytes};
}

}  // namespace ringside
