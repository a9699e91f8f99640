#include "schedule/program/receive_ahead.hpp"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "schedule/registry.hpp"

namespace ringside {
namespace {

bool may_post_during(const std::vector<Move>& during, const std::vector<Move>& later) {
  const RankPart before = {.moves = during};
  return may_post_ahead(0, {&before, 1}, {.moves = later});
}

TEST(ReceiveAhead, NeedsTheSameSourcesInTheRoundBefore) {
  const std::vector<Move> from_one = {{.source = 1, .target = 0, .kind = MoveKind::reduce}};
  const std::vector<Move> from_two = {{.source = 1, .target = 0, .kind = MoveKind::reduce},
                                      {.source = 2, .target = 0, .kind = MoveKind::reduce}};
  EXPECT_TRUE(may_post_during(from_one, from_one));
  EXPECT_TRUE(may_post_during(from_two, from_one));
  EXPECT_FALSE(may_post_during(from_one, from_two)) << "a rank posts the receives of a round as a whole";
  EXPECT_FALSE(may_post_during({}, from_one));
}

TEST(ReceiveAhead, NeedsThePlaceOfACopyFree) {
  const auto copy = [](std::int32_t chunk, std::uint8_t buffer = 0) {
    return std::vector<Move>{{.source = 1, .target = 0, .first_chunk = chunk, .target_buffer = buffer}};
  };
  std::vector<Move> during = copy(0);
  during.push_back({.source = 0, .target = 2, .first_chunk = 1, .num_chunks = 2});
  during.push_back({.source = 0, .target = 0, .first_chunk = 3, .source_buffer = 1, .target_buffer = 1});
  during.push_back({.source = 2, .target = 1, .first_chunk = 4});
  EXPECT_FALSE(may_post_during(during, copy(0))) << "it arrives there";
  EXPECT_FALSE(may_post_during(during, copy(2))) << "it is sent from there";
  EXPECT_FALSE(may_post_during(during, copy(3, 1))) << "a local move is there";
  EXPECT_TRUE(may_post_during(during, copy(3))) << "another buffer";
  EXPECT_TRUE(may_post_during(during, copy(4))) << "other ranks' chunks";
}

TEST(ReceiveAhead, MustHoldDuringEveryRoundBefore) {
  const std::vector<Move> from_one = {{.source = 1, .target = 0, .kind = MoveKind::reduce}};
  const std::vector<Move> from_two = {{.source = 2, .target = 0, .kind = MoveKind::reduce}};
  const std::vector<RankPart> rounds = {{.moves = from_two}, {.moves = from_one}};
  const RankPart later = {.moves = from_one};
  EXPECT_FALSE(may_post_ahead(0, rounds, later));
  EXPECT_TRUE(may_post_ahead(0, std::span(rounds).last(1), later)) << "in the last of them";
}

TEST(ReceiveAhead, NeedsLittleMemoryForWhatIsToBeReduced) {
  const std::vector<Move> moves = {{.source = 1, .target = 0, .kind = MoveKind::reduce}};
  const auto with = [&](std::int64_t before, std::int64_t later) {
    const RankPart part = {.moves = moves, .to_reduce = before};
    return may_post_ahead(0, {&part, 1}, {.moves = moves, .to_reduce = later});
  };
  EXPECT_TRUE(with(32 << 20, 32 << 20));
  EXPECT_FALSE(with(32 << 20, (32 << 20) + 64));
  EXPECT_TRUE(with(256 << 20, 0)) << "what is copied needs none";
}

/// How many messages of a ring of 4 ranks find their receive posted ahead.
int num_ready(Bytes size, const ExecutionPolicy& policy) {
  const Schedule ring(*find_algorithm(Collective::all_reduce, "ring"), {.num_ranks = 4});
  const Execution execution(ring, size, DataType::float32, policy);
  Receivers receivers(execution);
  int ready = 0;
  std::vector<Move> moves;
  for (std::int64_t round = 0; round < execution.num_rounds(); ++round) {
    execution.write_round(round, moves);
    receivers.reach(moves);
    for (const Move& move : moves) {
      EXPECT_EQ(receivers.of(move) == Receiver::fresh, round == 0);
      ready += receivers.of(move) == Receiver::ready ? 1 : 0;
    }
  }
  return ready;
}

TEST(Receivers, AreReadyAsThePolicySays) {
  const Bytes size{4 << 20};
  EXPECT_EQ(num_ready(size, {}), 0);
  EXPECT_EQ(num_ready(size, {.receives_ahead = true}), 4 * 5) << "in every round but the first";
  // Two chunks on their way to be reduced would need more than 64 MiB; copies need none.
  EXPECT_EQ(num_ready({(128 << 20) + 1024}, {.receives_ahead = true}), 4 * 3);
}

}  // namespace
}  // namespace ringside
