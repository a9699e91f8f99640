#include "schedule/program/execution.hpp"

#include <algorithm>
#include <utility>

#include "common/failures.hpp"
#include "schedule/program/staging.hpp"

namespace ringside {
namespace {

std::int64_t whole_elements(Bytes size, DataType dtype) {
  const auto element = static_cast<std::int64_t>(size_of(dtype));
  if (size.value < 0 || size.value % element != 0) {
    throw bad_input("a message of {} B is not a whole number of {} elements ({} B each)", size.value,
                    name(dtype), element);
  }
  return size.value / element;
}

bool sensible(const ExecutionPolicy& policy) {
  const bool ordered = policy.segments >= 1 && policy.stride >= 1 && policy.stride <= policy.segments;
  const bool alone = policy.in_flight == 1;
  // No segment is in two rounds in flight; and a rank with several rounds in flight posts receives ahead.
  return ordered && policy.in_flight >= 1 && (alone || policy.receives_ahead) &&
         (policy.segments == 1 || policy.in_flight <= policy.stride);
}

}  // namespace

Execution::Execution(Schedule schedule, Bytes size, DataType dtype, ExecutionPolicy policy)
    : schedule_(std::move(schedule)),
      policy_(std::move(policy)),
      element_size_(static_cast<std::int64_t>(size_of(dtype))),
      layout_(whole_elements(size, dtype), schedule_.num_chunks()) {
  RINGSIDE_CHECK(sensible(policy_),
                 "an execution policy has a segment in one round at a time, and receives posted ahead where "
                 "several are in flight");
  policy_.order = schedule_.request().order;
  const std::int64_t shortest_chunk = element_size_ * (layout_.num_elements() / layout_.num_chunks());
  has_empty_moves_ =
      has_empty_chunks() || (policy_.segments > 1 && shortest_chunk < policy_.segments * kCacheLine);
}

void Execution::write_round(std::int64_t round, std::vector<Move>& moves) const {
  if (policy_.segments == 1) {
    schedule_.write_round(round, moves);
  } else {
    write_segments(round, moves);
  }
  if (has_empty_moves_) {
    std::erase_if(moves, [this](const Move& move) { return bytes(move) == 0; });
  }
}

void Execution::write_segments(std::int64_t round, std::vector<Move>& moves) const {
  moves.clear();
  std::vector<Move> whole_chunks;
  // Segments that are further on their way come first: others wait for them.
  for (std::int64_t whole = std::min(round / policy_.stride, schedule_.num_rounds() - 1); whole >= 0;
       --whole) {
    const std::int64_t segment = round - policy_.stride * whole;
    if (segment >= policy_.segments) {
      break;
    }
    schedule_.write_round(whole, whole_chunks);
    for (Move move : whole_chunks) {
      RINGSIDE_CHECK(move.num_chunks == 1, "only moves of single chunks can be cut into segments");
      move.first_chunk = move.first_chunk * policy_.segments + static_cast<std::int32_t>(segment);
      moves.push_back(move);
    }
  }
}

ByteRange Execution::range(const Move& move) const {
  const std::int32_t segments = policy_.segments;
  const ElementRange elements =
      layout_.elements(move.first_chunk / segments, segments == 1 ? move.num_chunks : 1);
  const ByteRange chunks = {.offset = elements.first * element_size_,
                            .bytes = elements.count * element_size_};
  if (segments == 1) {
    return chunks;
  }
  // Cut at whole cache lines of the chunk, so that all segments of a chunk are aligned alike.
  const std::int32_t segment = move.first_chunk % segments;
  const auto cut = [&](std::int64_t i) {
    return std::min(chunks.bytes, cache_lines(chunks.bytes * i / segments));
  };
  return {.offset = chunks.offset + cut(segment), .bytes = cut(segment + 1) - cut(segment)};
}

}  // namespace ringside
