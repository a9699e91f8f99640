#include "schedule/receive_ahead.hpp"

#include <algorithm>

#include "schedule/chunk_range.hpp"

namespace ringside {
namespace {

bool received_by(Rank rank, const Move& move) { return move.target == rank && !move.local(); }

bool touches(Rank rank, const Move& move, const ChunkRange& chunks) {
  return (move.source == rank && read_by(move).touches(chunks)) ||
         (move.target == rank && written_by(move).touches(chunks));
}

}  // namespace

bool may_receive_during(Rank rank, std::span<const Move> during, std::span<const Move> later) {
  return std::all_of(later.begin(), later.end(), [&](const Move& early) {
    if (!received_by(rank, early)) {
      return true;
    }
    const bool same_source = std::any_of(during.begin(), during.end(), [&](const Move& move) {
      return received_by(rank, move) && move.source == early.source;
    });
    return same_source && (early.kind == MoveKind::reduce ||
                           std::none_of(during.begin(), during.end(), [&](const Move& move) {
                             return touches(rank, move, written_by(early));
                           }));
  });
}

}  // namespace ringside
