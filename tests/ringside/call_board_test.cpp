#include "ringside/call_board.hpp"

#include <string>
#include <vector>

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

TEST(CallBoard, EveryFieldOfACallIsCompared) {
  const GroupCall call = all_reduce_of(100);
  std::vector<GroupCall> others(5, call);
  others[0].collective = Collective::reduce;
  others[1].dtype = DataType::float64;
  others[2].op = ReduceOp::max;
  others[3].root = 1;
  others[4].set_algorithm("ringo");
  for (const GroupCall& other : others) {
    CallBoard board(2);
    board.enter(0, 1, call);
    EXPECT_THROW(board.enter(1, 1, other), Error);
  }
}

TEST(CallBoard, EveryRankIsComparedWithWhoCameFirst) {
  for (const int ranks : {2, 5, 9}) {
    for (Rank first = 0; first < ranks; ++first) {
      CallBoard board(ranks);
      const std::int64_t number = CallBoard::kCalls + first;
      board.enter(first, number, all_reduce_of(7));
      for (Rank other = 0; other < ranks; ++other) {
        if (other != first) {
          EXPECT_THROW(board.enter(other, number, all_reduce_of(8)), Error);
          EXPECT_NO_THROW(board.enter(other, number, all_reduce_of(7)));
        }
      }
    }
  }
}

TEST(CallBoard, LongNamesAreCut) {
  GroupCall call = all_reduce_of(1);
  call.set_algorithm(std::string(30, 'a'));
  EXPECT_EQ(std::string(call.algorithm.begin(), call.algorithm.end()), std::string(24, 'a'));
  call.set_algorithm("ring");
  EXPECT_EQ(call, all_reduce_of(1)) << "nothing of the longer one is left";
}

TEST(CallBoard, MessagesOfEveryPairAreApartAndMayBeLong) {
  constexpr int kRanks = 3;
  constexpr std::int64_t kLong = (1LL << 44) - 1;
  for (const std::int64_t number : {std::int64_t{1}, CallBoard::kMessages, CallBoard::kMessages + 1}) {
    CallBoard board(kRanks);
    for (Rank source = 0; source < kRanks; ++source) {
      for (Rank target = 0; target < kRanks; ++target) {
        board.enter_send(source, target, number, kLong - 10 * source - target);
        board.enter_receive(target, source, number + 1, 10 * source + target);
      }
    }
    for (Rank source = 0; source < kRanks; ++source) {
      for (Rank target = 0; target < kRanks; ++target) {
        EXPECT_NO_THROW(board.enter_receive(source, target, number, kLong - 10 * source - target));
        EXPECT_THROW(board.enter_receive(source, target, number, kLong - 10 * source - target - 1), Error);
        EXPECT_NO_THROW(board.enter_send(target, source, number + 1, 10 * source + target));
        EXPECT_THROW(board.enter_send(target, source, number + 1, 10 * source + target + 1), Error);
      }
    }
  }
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
