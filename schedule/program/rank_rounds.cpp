#include "schedule/program/rank_rounds.hpp"

#include <algorithm>

namespace ringside {

bool overlap(const Region& a, const Region& b) {
  return a.buffer == b.buffer && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

bool RankRound::touches(const Region& region) const {
  const auto received = [&](const Receive& receive) { return overlap(receive.target, region); };
  return sends_touch(region) || std::ranges::any_of(receives, received) ||
         std::ranges::any_of(locals, [&](const Step& local) {
           return overlap(local.source, region) || overlap(local.target, region);
         });
}

bool RankRound::sends_touch(const Region& region) const {
  return std::ranges::any_of(sends, [&](const Step& send) { return overlap(send.source, region); });
}

void RankRounds::next(RankRound& round) {
  round = {};
  while (round.empty() && next_round_ < execution_.num_rounds()) {
    execution_.write_round(next_round_, moves_);
    for (const Move& move : moves_) {
      add(move, round);
    }
    ++next_round_;
  }
}

void RankRounds::add(const Move& move, RankRound& round) const {
  if (move.source != rank_ && move.target != rank_) {
    return;
  }
  const Region source = region(move.source_buffer, move);
  const Region target = region(move.target_buffer, move);
  round.moves.push_back(move);
  const StepOrigin origin = {
      .round = next_round_, .first_chunk = move.first_chunk, .num_chunks = move.num_chunks};
  if (move.local()) {
    round.locals.push_back({.kind = move.kind == MoveKind::copy ? StepKind::copy : StepKind::reduce,
                            .peer = rank_,
                            .source = source,
                            .target = target,
                            .origin = origin});
  } else if (move.source == rank_) {
    round.sends.push_back({.kind = StepKind::send, .peer = move.target, .source = source, .origin = origin});
  } else {
    round.receives.push_back({.peer = move.source, .target = target, .kind = move.kind, .origin = origin});
    round.to_reduce += move.kind == MoveKind::reduce ? target.bytes : 0;
  }
}

Region RankRounds::region(std::uint8_t buffer, const Move& move) const {
  const ByteRange range = execution_.range(move);
  return {.buffer = buffer, .offset = range.offset, .bytes = range.bytes};
}

}  // namespace ringside
