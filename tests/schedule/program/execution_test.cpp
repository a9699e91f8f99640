#include "schedule/program/execution.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "common/error.hpp"
#include "schedule/program/rank_rounds.hpp"
#include "schedule/registry.hpp"
#include "schedule/schedule.hpp"
#include "tests/schedule/requests.hpp"

namespace ringside {
namespace {

Schedule ring_of(int num_ranks, Collective collective = Collective::all_reduce) {
  return {*find_algorithm(collective, "ring"), {.collective = collective, .num_ranks = num_ranks}};
}

/// All moves, in order.
std::vector<Move> moves_of(const Execution& execution) {
  std::vector<Move> all;
  std::vector<Move> moves;
  for (std::int64_t round = 0; round < execution.num_rounds(); ++round) {
    execution.write_round(round, moves);
    all.insert(all.end(), moves.begin(), moves.end());
  }
  return all;
}

TEST(Execution, OfWholeChunksIsTheScheduleWithoutItsEmptyMoves) {
  const Execution execution(ring_of(4), {8}, DataType::float32);  // Two of four chunks have an element.
  EXPECT_TRUE(execution.has_empty_chunks());
  const std::vector<Move> moves = moves_of(execution);
  EXPECT_EQ(moves.size(), 2U * 3 * 2);
  for (const Move& move : moves) {
    EXPECT_EQ(execution.bytes(move), 4);
  }
}

TEST(Execution, RefusesAMessageWithAPartOfAnElement) {
  EXPECT_THROW(Execution(ring_of(2), {6}, DataType::float32), Error);
}

TEST(Execution, RefusesSeveralRoundsInFlightWithoutReceivesThatArePostedAhead) {
  EXPECT_THROW(
      Execution(ring_of(2), {1 << 20}, DataType::float32, {.segments = 4, .stride = 2, .in_flight = 2}), Bug);
}

TEST(RankRounds, OnlyWhatArrivesToBeReducedCounts) {
  const auto to_reduce = [](Collective collective) {
    const Execution execution(ring_of(4, collective), {4096}, DataType::float32);
    RankRounds rounds(execution, 0);
    RankRound round;
    rounds.next(round);
    return round.to_reduce;
  };
  EXPECT_EQ(to_reduce(Collective::reduce_scatter), 1024);
  EXPECT_EQ(to_reduce(Collective::all_gather), 0);
}

TEST(RankRounds, ARoundTouchesWhatItsLocalMovesReadAndWrite) {
  const Region from{.buffer = 0, .offset = 0, .bytes = 64};
  const Region to{.buffer = 1, .offset = 128, .bytes = 64};
  RankRound round;
  round.locals.push_back({.kind = StepKind::copy, .source = from, .target = to});
  EXPECT_TRUE(round.touches(from));
  EXPECT_TRUE(round.touches(to));
  EXPECT_FALSE(round.touches({.buffer = 1, .offset = 0, .bytes = 64}));
}

TEST(Execution, EverySegmentGoesTheWayOfItsWholeChunk) {
  for (const Collective collective : {Collective::all_reduce, Collective::reduce_scatter}) {
    const Bytes size{3 << 12};
    const std::vector<Move> whole = moves_of(Execution(ring_of(3, collective), size, DataType::float32));
    const Execution cut(ring_of(3, collective), size, DataType::float32,
                        {.receives_ahead = true, .segments = 5, .stride = 4, .in_flight = 4});
    std::map<std::int32_t, std::vector<Move>> by_segment;
    for (Move move : moves_of(cut)) {
      const std::int32_t segment = std::exchange(move.first_chunk, move.first_chunk / 5) % 5;
      by_segment[segment].push_back(move);
    }
    ASSERT_EQ(by_segment.size(), 5U);
    for (const auto& [segment, moves] : by_segment) {
      EXPECT_EQ(moves, whole) << "segment " << segment;
    }
  }
}

TEST(Execution, SegmentsAreTheirChunkInWholeCacheLines) {
  const Execution execution(ring_of(2), {2 * 1'000}, DataType::float32,
                            {.receives_ahead = true, .segments = 3, .stride = 3, .in_flight = 2});
  std::int64_t end = 0;
  for (std::int32_t segment = 0; segment < 6; ++segment) {
    const ByteRange range = execution.range({.first_chunk = segment});
    EXPECT_EQ(range.offset, end);
    EXPECT_EQ((range.offset - 1'000 * (segment / 3)) % 64, 0);
    EXPECT_EQ(execution.bytes({.first_chunk = segment}), range.bytes);
    end = range.offset + range.bytes;
  }
  EXPECT_EQ(end, 2'000);
}

TEST(Execution, ShortSegmentsThatHoldNothingAreNotSent) {
  const Execution execution(ring_of(2), {2 * 100}, DataType::float32,
                            {.receives_ahead = true, .segments = 5, .stride = 5, .in_flight = 2});
  std::int64_t bytes = 0;
  for (const Move& move : moves_of(execution)) {
    ASSERT_GT(execution.bytes(move), 0);
    bytes += execution.bytes(move);
  }
  EXPECT_EQ(bytes, 4 * 100) << "both ranks send two chunks";
}

class ExecutionWithStride : public ::testing::TestWithParam<std::int32_t> {};

TEST_P(ExecutionWithStride, ASegmentIsInOneOfTheRoundsInFlight) {
  const Execution execution(
      ring_of(4), {1 << 16}, DataType::float32,
      {.receives_ahead = true, .segments = 7, .stride = GetParam(), .in_flight = GetParam()});
  std::map<std::int32_t, std::int64_t> last_round;
  std::vector<Move> moves;
  for (std::int64_t round = 0; round < execution.num_rounds(); ++round) {
    execution.write_round(round, moves);
    EXPECT_FALSE(moves.empty()) << "round " << round;
    std::set<std::int32_t> segments;
    for (const Move& move : moves) {
      segments.insert(move.first_chunk % 7);
    }
    for (const std::int32_t segment : segments) {
      if (last_round.contains(segment)) {
        EXPECT_EQ(round - last_round[segment], GetParam());
      }
      last_round[segment] = round;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Strides, ExecutionWithStride, ::testing::Values(1, 2, 4, 7));

TEST(Placement, MessagesThatAreSpreadOverRanksStayWithThem) {
  const RankPlacement placement = {.ranks_per_node = 2, .order = {0, 2, 1, 3}};
  EXPECT_EQ(request_for(Collective::all_reduce, 4, placement).order, placement.order);
  EXPECT_TRUE(request_for(Collective::reduce_scatter, 4, placement).order.empty());
}

}  // namespace
}  // namespace ringside
