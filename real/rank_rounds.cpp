#include "real/rank_rounds.hpp"

#include <algorithm>

#include "real/landing.hpp"

namespace ringside {

bool overlap(const Region& a, const Region& b) {
  return a.buffer == b.buffer && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

bool RankRound::touches(const Region& region) const {
  const auto by_transfer = [&](const Transfer& transfer) { return overlap(transfer.region, region); };
  return sends_touch(region) || std::any_of(receives.begin(), receives.end(), by_transfer) ||
         std::any_of(locals.begin(), locals.end(), [&](const Local& local) {
           return overlap(local.source, region) || overlap(local.target, region);
         });
}

bool RankRound::sends_touch(const Region& region) const {
  return std::any_of(sends.begin(), sends.end(),
                     [&](const Transfer& send) { return overlap(send.region, region); });
}

RankRounds::RankRounds(const Schedule& schedule, const Vector& vector, Rank rank)
    : schedule_(schedule),
      layout_(vector.num_elements, schedule.num_chunks() / schedule.slicing().count),
      element_size_(static_cast<std::int64_t>(size_of(vector.dtype))),
      rank_(rank) {}

void RankRounds::next(RankRound& round) {
  round = {};
  while (round.empty() && next_round_ < schedule_.num_rounds()) {
    schedule_.write_round(next_round_, moves_);
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
  if (source.bytes == 0) {
    return;
  }
  round.moves.push_back(move);
  const StepOrigin origin = {
      .round = next_round_, .first_chunk = move.first_chunk, .num_chunks = move.num_chunks};
  if (move.local()) {
    round.locals.push_back({.source = source, .target = target, .kind = move.kind, .origin = origin});
  } else if (move.source == rank_) {
    round.sends.push_back({.peer = move.target, .region = source, .kind = move.kind, .origin = origin});
  } else {
    round.receives.push_back({.peer = move.source, .region = target, .kind = move.kind, .origin = origin});
    round.to_reduce += move.kind == MoveKind::reduce ? target.bytes : 0;
  }
}

Region RankRounds::region(std::uint8_t buffer, const Move& move) const {
  const std::int32_t slices = schedule_.slicing().count;
  const ElementRange elements =
      layout_.elements(move.first_chunk / slices, slices == 1 ? move.num_chunks : 1);
  const Region chunks = {
      .buffer = buffer, .offset = elements.first * element_size_, .bytes = elements.count * element_size_};
  if (slices == 1) {
    return chunks;
  }
  // Cut at whole cache lines of the chunk, so that all slices of a chunk are aligned alike.
  const std::int32_t slice = move.first_chunk % slices;
  const auto cut = [&](std::int64_t i) {
    return std::min(chunks.bytes, cache_lines(chunks.bytes * i / slices));
  };
  return {.buffer = buffer, .offset = chunks.offset + cut(slice), .bytes = cut(slice + 1) - cut(slice)};
}

}  // namespace ringside
