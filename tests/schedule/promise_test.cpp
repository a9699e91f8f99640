#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedule/schedule.hpp"
#include "scripted.hpp"

namespace ringside {
namespace {

using ::testing::ElementsAre;

/// Two ranks, four chunks, root 1: for each rank a letter per chunk, x where `holds` says so.
std::vector<std::string> where(Collective collective, bool (*holds)(const Schedule&, Rank, std::int32_t)) {
  const Schedule schedule = scripted_schedule({.collective = collective, .num_chunks = 4}, 2, /*root=*/1);
  std::vector<std::string> letters(2);
  for (Rank rank = 0; rank < 2; ++rank) {
    for (std::int32_t chunk = 0; chunk < 4; ++chunk) {
      letters[static_cast<std::size_t>(rank)] += holds(schedule, rank, chunk) ? 'x' : '.';
    }
  }
  return letters;
}

TEST(Promise, SaysWhoHoldsWhatAtTheStart) {
  EXPECT_THAT(where(Collective::all_reduce, holds_at_start), ElementsAre("xxxx", "xxxx"));
  EXPECT_THAT(where(Collective::reduce, holds_at_start), ElementsAre("xxxx", "xxxx"));
  EXPECT_THAT(where(Collective::reduce_scatter, holds_at_start), ElementsAre("xxxx", "xxxx"));
  EXPECT_THAT(where(Collective::broadcast, holds_at_start), ElementsAre("....", "xxxx"));
  EXPECT_THAT(where(Collective::gather, holds_at_start), ElementsAre("xx..", "..xx"));
  EXPECT_THAT(where(Collective::all_gather, holds_at_start), ElementsAre("xx..", "..xx"));
  EXPECT_THAT(where(Collective::all_to_all, holds_at_start), ElementsAre("xx..", "..xx"));
  EXPECT_THAT(where(Collective::send_recv, holds_at_start), ElementsAre("xx..", "..xx"));
}

TEST(Promise, SaysWhoMustHoldWhatAtTheEnd) {
  EXPECT_THAT(where(Collective::all_reduce, promised_at_end), ElementsAre("xxxx", "xxxx"));
  EXPECT_THAT(where(Collective::reduce, promised_at_end), ElementsAre("....", "xxxx"));
  EXPECT_THAT(where(Collective::reduce_scatter, promised_at_end), ElementsAre("xx..", "..xx"));
  EXPECT_THAT(where(Collective::broadcast, promised_at_end), ElementsAre("xxxx", "xxxx"));
  EXPECT_THAT(where(Collective::gather, promised_at_end), ElementsAre("....", "xxxx"));
  EXPECT_THAT(where(Collective::all_gather, promised_at_end), ElementsAre("xxxx", "xxxx"));
  EXPECT_THAT(where(Collective::all_to_all, promised_at_end), ElementsAre("x.x.", ".x.x"));
  EXPECT_THAT(where(Collective::send_recv, promised_at_end), ElementsAre("..xx", "xx.."));
}

TEST(Promise, BuffersOfAllToAllAndSendRecvHoldTheMessagesOfAllRanks) {
  EXPECT_EQ(buffer_of_message(Collective::all_to_all, 8, {1024}), Bytes{8192});
  EXPECT_EQ(buffer_of_message(Collective::send_recv, 8, {1024}), Bytes{8192});
  EXPECT_EQ(buffer_of_message(Collective::all_gather, 8, {1024}), Bytes{1024});
}

}  // namespace
}  // namespace ringside
