#include "ringside/call_board.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"

namespace ringside {
namespace {

using ::testing::ThrowsMessage;

GroupCall all_reduce_of(std::int64_t num_elements) {
  GroupCall call{.num_elements = num_elements};
  call.set_algorithm("ring");
  return call;
}

TEST(CallBoard, MoreMemoryThanAMachineAddressesIsRefused) {
  EXPECT_THAT([] { CallBoard(20'000'000); }, ThrowsMessage<Error>(testing::HasSubstr("cannot share")));
}

TEST(CallBoard, WhoComesLaterToADifferentCallIsToldBoth) {
  CallBoard board(3);
  board.enter(2, 1, all_reduce_of(100));
  board.enter(0, 1, all_reduce_of(100));
  EXPECT_THAT([&] { board.enter(1, 1, all_reduce_of(99)); },
              ThrowsMessage<Error>(
                  "rank 1 called all_reduce of 99 float32 (sum, ring) and rank 2 called all_reduce of "
                  "100 float32 (sum, ring) at the same point; all ranks make the same collective "
                  "calls in the same order"));
}

TEST(CallBoard, CallsAreDescribedAsTheyWereWritten) {
  CallBoard board(2);
  board.enter(0, 1, {});
  GroupCall gather{.collective = Collective::gather, .dtype = DataType::int64, .root = 1, .num_elements = 6};
  gather.set_algorithm("binomial_tree");
  EXPECT_THAT([&] { board.enter(1, 1, gather); },
              ThrowsMessage<Error>(
                  "rank 1 called gather of 3 int64 from each rank (root 1, binomial_tree) and rank 0 "
                  "called barrier at the same point; all ranks make the same collective calls in the "
                  "same order"));
}

TEST(CallBoard, ARankMayBeAheadAndIsComparedAsLongAsItsCallIsKept) {
  CallBoard board(2);
  for (std::int64_t number = 1; number <= CallBoard::kCalls; ++number) {
    board.enter(0, number, all_reduce_of(number));
  }
  EXPECT_THROW(board.enter(1, 1, all_reduce_of(2)), Error);
  board.enter(0, CallBoard::kCalls + 1, all_reduce_of(1));
  board.enter(1, 1, all_reduce_of(2));  // Its place is taken.
  board.enter(1, 2, all_reduce_of(2));
  EXPECT_THROW(board.enter(1, 3, all_reduce_of(2)), Error);
}

TEST(CallBoard, TheLaterSideOfAMessageIsToldBothSizes) {
  CallBoard board(3);
  const auto text = [](const char* sizes) { return ThrowsMessage<Error>(std::string(sizes)); };
  board.enter_send(0, 2, 1, 8);
  board.enter_receive(0, 2, 1, 8);
  board.enter_send(0, 2, 2, 8);
  EXPECT_THAT([&] { board.enter_receive(0, 2, 2, 4); },
              text("rank 0 sends 8 B to rank 2, which wants to receive 4 B"));
  board.enter_receive(2, 0, 1, 16);  // The other direction counts for itself.
  EXPECT_THAT([&] { board.enter_send(2, 0, 1, 8); },
              text("rank 2 sends 8 B to rank 0, which wants to receive 16 B"));
}

TEST(CallBoard, MessagesThatAreOverwrittenAreNotCompared) {
  CallBoard board(2);
  for (std::int64_t number = 1; number <= CallBoard::kMessages + 1; ++number) {
    board.enter_send(0, 1, number, 100 + number);
  }
  board.enter_receive(0, 1, 1, 5);
  board.enter_receive(0, 1, 2, 102);
  EXPECT_THROW(board.enter_receive(0, 1, 3, 5), Error);
}

}  // namespace
}  // namespace ringside
