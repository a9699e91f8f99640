#include "schedule/receive_ahead.hpp"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace ringside {
namespace {

TEST(ReceiveAhead, NeedsTheSameSourcesInTheRoundBefore) {
  const std::vector<Move> from_one = {{.source = 1, .target = 0, .kind = MoveKind::reduce}};
  const std::vector<Move> from_two = {{.source = 1, .target = 0, .kind = MoveKind::reduce},
                                      {.source = 2, .target = 0, .kind = MoveKind::reduce}};
  EXPECT_TRUE(may_receive_during(0, from_one, from_one));
  EXPECT_TRUE(may_receive_during(0, from_two, from_one));
  EXPECT_FALSE(may_receive_during(0, from_one, from_two)) << "a rank starts to receive a round as a whole";
  EXPECT_FALSE(may_receive_during(0, {}, from_one));
}

TEST(ReceiveAhead, NeedsThePlaceOfACopyFree) {
  const auto copy = [](std::int32_t chunk, std::uint8_t buffer = 0) {
    return std::vector<Move>{{.source = 1, .target = 0, .first_chunk = chunk, .target_buffer = buffer}};
  };
  std::vector<Move> during = copy(0);
  during.push_back({.source = 0, .target = 2, .first_chunk = 1, .num_chunks = 2});
  during.push_back({.source = 0, .target = 0, .first_chunk = 3, .source_buffer = 1, .target_buffer = 1});
  during.push_back({.source = 2, .target = 1, .first_chunk = 4});
  EXPECT_FALSE(may_receive_during(0, during, copy(0))) << "it arrives there";
  EXPECT_FALSE(may_receive_during(0, during, copy(2))) << "it is sent from there";
  EXPECT_FALSE(may_receive_during(0, during, copy(3, 1))) << "a local move is there";
  EXPECT_TRUE(may_receive_during(0, during, copy(3))) << "another buffer";
  EXPECT_TRUE(may_receive_during(0, during, copy(4))) << "other ranks' chunks";
}

}  // namespace
}  // namespace ringside
