#include "real/probe/probe_plan.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"

namespace ringside {
namespace {

using Lines = std::vector<std::string>;

/// "ping_pong 2 0>2: 8 x4^9 20000": the kind, how many ranks, the pair, and the sizes: 8 B, nine times four
/// times as much, and 20,000 B. "2*3" are three messages of each of two ranks at once.
Lines text_of(const ProbeGroup& group) {
  Lines lines = {fmt::format("{} ranks", group.num_ranks)};
  std::string before;
  std::int64_t size = 0;
  std::int64_t factor = 0;
  int times = 0;
  const auto end_of_run = [&] {
    lines.back() += times > 0 ? fmt::format(" x{}^{}", factor, times) : "";
    times = 0;
  };
  for (const ProbeKey& key : group.keys) {
    const std::string what = fmt::format(
        "{} {}{}{}", name(key.kind), key.ranks, key.messages == 1 ? "" : fmt::format("*{}", key.messages),
        key.first == 0 && key.second == 1 ? "" : fmt::format(" {}>{}", key.first, key.second));
    if (what != before) {
      end_of_run();
      lines.push_back(fmt::format("{}: {}", what, key.bytes.value));
    } else if (key.bytes.value == 4 * size || key.bytes.value == 2 * size) {
      if (times > 0 && key.bytes.value != factor * size) {
        end_of_run();
      }
      factor = key.bytes.value / size;
      ++times;
    } else {
      end_of_run();
      lines.back() += fmt::format(" {}", key.bytes.value);
    }
    before = what;
    size = key.bytes.value;
  }
  end_of_run();
  return lines;
}

Lines text_of(const std::vector<ProbeGroup>& groups) {
  Lines lines;
  for (const ProbeGroup& group : groups) {
    const Lines own = text_of(group);
    lines.insert(lines.end(), own.begin(), own.end());
  }
  return lines;
}

TEST(ProbePlan, OfSocketsIsAPairAndEveryNumberOfRanksOnce) {
  EXPECT_EQ(text_of(local_groups({3, 2, 3}, {2 << 20}, false)),
            (Lines{"2 ranks",
                   "ping_pong 2: 8 x4^9",
                   "send 2: 8 x4^9",
                   "reduction 1: 4096 x4^4 x2^1",
                   "neighbour_exchange 2: 8 x4^9",
                   "neighbour_exchange 2*2: 8 x4^9",
                   "chained_exchange 2: 8 x4^8 x2^1",
                   "chained_exchange_posted 2: 8 x4^8 x2^1",
                   "reduction 2: 4096 x4^4 x2^1",
                   "reducing_exchange 2: 8 x4^9",
                   "writing_exchange 2: 32768 x4^3",
                   "3 ranks",
                   "neighbour_exchange 3: 8 x4^9",
                   "neighbour_exchange 3*2: 8 x4^9",
                   "chained_exchange 3: 8 x4^8 x2^1",
                   "chained_exchange_posted 3: 8 x4^8 x2^1",
                   "fan_out 3: 8 x4^9",
                   "reduction 3: 4096 x4^4 x2^1",
                   "reducing_exchange 3: 8 x4^9",
                   "writing_exchange 3: 32768 x4^3"}));
  EXPECT_EQ(text_of(local_groups({4}, {64}, false)),
            (Lines{"2 ranks", "ping_pong 2: 8 x4^1 x2^1", "send 2: 8 x4^1 x2^1", "reduction 1: 64", "4 ranks",
                   "neighbour_exchange 4: 8 x4^1 x2^1", "neighbour_exchange 4*2: 8 x4^1 x2^1",
                   "chained_exchange 4: 8 x4^1 x2^1", "chained_exchange_posted 4: 8 x4^1 x2^1",
                   "fan_out 4: 8 x4^1 x2^1", "reduction 4: 64", "reducing_exchange 4: 8 x4^1 x2^1"}));
}

TEST(ProbePlan, OfMemoryHasSizesWhereCachesAndBuffersEnd) {
  EXPECT_EQ(text_of(local_groups({2, 4, 8}, {16 << 20}, true)),
            (Lines{"2 ranks",
                   "ping_pong 2: 8 x4^5 x2^12",
                   "send 2: 8 x4^5 x2^11",
                   "reduction 1: 4096 x4^6",
                   "neighbour_exchange 2: 8 x4^5 x2^11",
                   "neighbour_exchange 2*2: 8 x4^5 x2^2 x4^4",
                   "chained_exchange 2: 8 x4^5 x2^7",
                   "chained_exchange_posted 2: 8 x4^5 x2^7",
                   "reduction 2: 4096 x4^1 x2^10",
                   "reducing_exchange 2: 8 x4^5 x2^11",
                   "writing_exchange 2: 32768 x4^4 x2^1",
                   "4 ranks",
                   "neighbour_exchange 4: 16 x4^10",
                   "neighbour_exchange 4*2: 16 x4^9 x2^1",
                   "chained_exchange 4: 16 x4^8",
                   "chained_exchange_posted 4: 16 x4^8",
                   "fan_out 4: 8 x4^5 x2^2 x4^4 x2^1",
                   "reduction 4: 4096 x4^6",
                   "reducing_exchange 4: 16 x4^10",
                   "writing_exchange 4: 65536 x4^4",
                   "8 ranks",
                   "neighbour_exchange 8: 8 x4^5 x2^2 x4^4 x2^1",
                   "neighbour_exchange 8*2: 8 x4^5 x2^2 x4^4",
                   "chained_exchange 8: 8 x4^5 x2^2 x4^2 x2^1",
                   "chained_exchange_posted 8: 8 x4^5 x2^2 x4^2 x2^1",
                   "fan_out 8: 8 x4^5 x2^2 x4^4 x2^1",
                   "reduction 8: 4096 x4^6",
                   "reducing_exchange 8: 8 x4^5 x2^2 x4^4 x2^1",
                   "writing_exchange 8: 32768 x4^4 x2^1"}));
  EXPECT_EQ(text_of(local_groups({3}, {16 << 10}, true)),
            (Lines{"2 ranks", "ping_pong 2: 8 x4^6", "send 2: 8 x4^5 x2^1", "reduction 1: 4096 x4^1",
                   "3 ranks", "neighbour_exchange 3: 8 x4^5 x2^1", "neighbour_exchange 3*2: 8 x4^5 x2^1",
                   "chained_exchange 3: 8 x4^5 x2^1", "chained_exchange_posted 3: 8 x4^5 x2^1",
                   "fan_out 3: 8 x4^5 x2^1", "reduction 3: 4096 x4^1", "reducing_exchange 3: 8 x4^5 x2^1"}));
}

TEST(ProbePlan, OfAnotherLauncherIsOneGroup) {
  EXPECT_EQ(text_of(group_of_all(3, {32}, false)),
            (Lines{"3 ranks", "ping_pong 2: 8 x4^1", "send 2: 8 x4^1", "reduction 1: 32",
                   "neighbour_exchange 3: 8 x4^1", "neighbour_exchange 3*2: 8 x4^1",
                   "chained_exchange 3: 8 x4^1", "chained_exchange_posted 3: 8 x4^1", "fan_out 3: 8 x4^1",
                   "reduction 3: 32", "reducing_exchange 3: 8 x4^1"}));
  EXPECT_EQ(text_of(group_of_nodes(4, 2, {16 << 20}, false)),
            (Lines{"4 ranks", "ping_pong 2: 8 x4^10 x2^1", "send 2: 8 x4^10 x2^1", "reduction 1: 4096 x4^6",
                   "ping_pong 2 0>2: 8 x4^10 x2^1", "neighbour_exchange 4 0>2: 4194304 x4^1",
                   "native_exchange 4 0>2: 1048576"}));
  EXPECT_EQ(text_of(group_of_nodes(6, 3, {8}, false)),
            (Lines{"6 ranks", "ping_pong 2: 8", "send 2: 8", "reduction 1: 8", "ping_pong 2 0>3: 8",
                   "neighbour_exchange 6 0>3: 8 8", "native_exchange 6 0>3: 131072"}));
  EXPECT_EQ(text_of(group_of_nodes(4, 2, {64 << 20}, false)),
            (Lines{"4 ranks", "ping_pong 2: 8 x4^11 x2^1", "send 2: 8 x4^11 x2^1", "reduction 1: 4096 x4^7",
                   "ping_pong 2 0>2: 8 x4^11 x2^1", "neighbour_exchange 4 0>2: 16777216 x4^1",
                   "native_exchange 4 0>2: 1048576"}));
}

TEST(ProbePlan, OfPairsIsEachInBothDirections) {
  EXPECT_EQ(
      text_of(group_of_pairs(3, {4096})),
      (Lines{"3 ranks", "ping_pong 2: 8", "stream 2: 4096", "stream 2 1>0: 4096", "both_ways 2: 4096",
             "ping_pong 2 0>2: 8", "stream 2 0>2: 4096", "stream 2 2>0: 4096", "both_ways 2 0>2: 4096",
             "ping_pong 2 1>2: 8", "stream 2 1>2: 4096", "stream 2 2>1: 4096", "both_ways 2 1>2: 4096"}));
  EXPECT_EQ(text_of(group_of_pairs(2, {64 << 20})),
            (Lines{"2 ranks", "ping_pong 2: 8", "stream 2: 16777216", "stream 2 1>0: 16777216",
                   "both_ways 2: 16777216"}));
}

TEST(ProbePlan, TheLargestMessageHasWholeElementsOfEveryType) {
  EXPECT_EQ(usable_max({8}).value, 8);
  EXPECT_EQ(usable_max({15}).value, 8);
  EXPECT_EQ(usable_max({16}).value, 16);
  EXPECT_THAT([] { usable_max({7}); },
              ::testing::ThrowsMessage<Error>("probes need messages of at least 8 bytes, not 7"));
}

}  // namespace
}  // namespace ringside
