#include "real/probe/probe_program.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/error.hpp"

namespace ringside {
namespace {

/// "1": the first message of the buffer that is sent from; "1'" that of what has arrived, "1\"" the staging.
std::string text_of(const Region& region, std::int64_t bytes) {
  const char* const marks[] = {"", "'", "\""};
  return fmt::format("{}{}{}", region.offset / bytes, marks[region.buffer],
                     region.bytes == bytes && region.offset % bytes == 0 ? "" : "?");
}

/// Buffers in messages; then its steps: "1<0'" receives from rank 1 into message 0, "2>0" sends it to rank 2,
/// "w3" waits for what step 3 has started, "0\"+0" reduces. What follows says how it is timed.
std::string text_of(const ProbeKey& key, Rank rank, int num_ranks, RankSite site) {
  const ProbeProgram probe = probe_program(key, rank, num_ranks, site);
  EXPECT_EQ(probe.program.rank, rank);
  EXPECT_EQ(probe.program.num_ranks, num_ranks);
  EXPECT_EQ(probe.num_elements(), probe.program.buffer_bytes.at(0) / 4);
  const std::int64_t bytes = key.bytes.value;
  std::string text;
  for (const std::int64_t size : probe.program.buffer_bytes) {
    EXPECT_EQ(size % bytes, 0);
    text += fmt::format("{}{}", text.empty() ? "" : ",", size / bytes);
  }
  text += ":";
  for (const Step& step : probe.program.steps) {
    text += ' ';
    switch (step.kind) {
      case StepKind::receive:
        text += fmt::format("{}<{}", step.peer, text_of(step.target, bytes));
        break;
      case StepKind::send:
        text += fmt::format("{}>{}", step.peer, text_of(step.source, bytes));
        break;
      case StepKind::wait:
        text += fmt::format("w{}", step.transfer);
        break;
      case StepKind::reduce:
        text += fmt::format("{}+{}", text_of(step.source, bytes), text_of(step.target, bytes));
        break;
      default:
        text += '?';
    }
  }
  return text + fmt::format(" /{}{}{}", probe.repeats,
                            probe.first_reduction > 0 ? fmt::format(" from {}", probe.first_reduction) : "",
                            probe.counts ? "" : " uncounted");
}

using Lines = std::vector<std::string>;

/// The programs of all ranks.
Lines all_ranks(const ProbeKey& key, int num_ranks, RankSite site = RankSite::cpu) {
  Lines lines;
  for (Rank rank = 0; rank < num_ranks; ++rank) {
    lines.push_back(text_of(key, rank, num_ranks, site));
  }
  return lines;
}

TEST(ProbeProgram, OfAPairIsWhatTheTwoDo) {
  const ProbeKey key = {.kind = ProbeKind::ping_pong, .bytes = {64}, .first = 2, .second = 0};
  EXPECT_EQ(all_ranks(key, 3),
            (Lines{"1,1,0: 2<0' w0 2>0 w2 /2 uncounted", "0,0,0: /2 uncounted", "1,1,0: 0>0 w0 0<0' w2 /2"}));
  EXPECT_EQ(all_ranks(key, 3, RankSite::memory),
            (Lines{"1,0,0: 2<0 w0 2>0 w2 /2 uncounted", "0,0,0: /2 uncounted", "1,0,0: 0>0 w0 0<0 w2 /2"}));
}

TEST(ProbeProgram, OfOneMessage) {
  EXPECT_EQ(all_ranks({.kind = ProbeKind::send, .bytes = {64}, .first = 1, .second = 2}, 3),
            (Lines{"0,0,0: /1 uncounted", "1,1,0: 2>0 w0 /1", "1,1,0: 1<0' w0 /1 uncounted"}));
  EXPECT_EQ(all_ranks({.kind = ProbeKind::fan_out, .bytes = {64}}, 4),
            (Lines{"2,2,0: 1>0 2>1 w0 w1 /1", "2,2,0: 0<0' w0 /1", "2,2,0: 0<0' w0 /1", "0,0,0: /1"}));
}

TEST(ProbeProgram, OfStreamsHasAsManyMessagesAsFitIntoMemory) {
  const auto first = [](ProbeKind kind, std::int64_t bytes, Rank rank) {
    return text_of({.kind = kind, .bytes = {bytes}}, rank, 3, RankSite::cpu);
  };
  EXPECT_EQ(first(ProbeKind::stream, 8 << 20, 0),
            "8,8,0: 1>0 1>1 1>2 1>3 1>4 1>5 1>6 1>7 w0 w1 w2 w3 w4 w5 w6 w7 /8");
  EXPECT_EQ(first(ProbeKind::stream, (8 << 20) + 4, 0),
            "7,7,0: 1>0 1>1 1>2 1>3 1>4 1>5 1>6 w0 w1 w2 w3 w4 w5 w6 /7");
  EXPECT_EQ(first(ProbeKind::stream, 32 << 20, 1), "2,2,0: 0<0' 0<1' w0 w1 /2");
  EXPECT_EQ(first(ProbeKind::stream, 48 << 20, 1), "2,2,0: 0<0' 0<1' w0 w1 /2");
  EXPECT_EQ(first(ProbeKind::stream, 64, 2), "0,0,0: /8");
  EXPECT_EQ(first(ProbeKind::both_ways, 24 << 20, 0), "2,2,0: 1<0' 1<1' 1>0 1>1 w0 w1 w2 w3 /2");
  EXPECT_EQ(first(ProbeKind::both_ways, 24 << 20, 1), "2,2,0: 0<0' 0<1' 0>0 0>1 w0 w1 w2 w3 /2");
  EXPECT_EQ(first(ProbeKind::both_ways, 24 << 20, 2), "0,0,0: /2");
}

TEST(ProbeProgram, OfExchangesOfNeighbours) {
  ProbeKey key = {.kind = ProbeKind::neighbour_exchange, .ranks = 3, .bytes = {64}};
  EXPECT_EQ(all_ranks(key, 3),
            (Lines{"1,1,0: 2<0' 1>0 w0 w1 /1", "1,1,0: 0<0' 2>0 w0 w1 /1", "1,1,0: 1<0' 0>0 w0 w1 /1"}));
  key.messages = 2;
  EXPECT_EQ(all_ranks(key, 3),
            (Lines{"2,2,0: 2<0' 2<1' 1>0 1>1 w0 w1 w2 w3 /1", "2,2,0: 0<0' 0<1' 2>0 2>1 w0 w1 w2 w3 /1",
                   "2,2,0: 1<0' 1<1' 0>0 0>1 w0 w1 w2 w3 /1"}));
  EXPECT_EQ(all_ranks(key, 3, RankSite::memory),
            (Lines{"6,0,0: 2<2 2<3 1>0 1>1 w0 w1 w2 w3 /1", "6,0,0: 0<2 0<3 2>0 2>1 w0 w1 w2 w3 /1",
                   "6,0,0: 1<2 1<3 0>0 0>1 w0 w1 w2 w3 /1"}));
  key.second = 2;
  EXPECT_EQ(all_ranks(key, 5),
            (Lines{"2,2,0: 3<0' 3<1' 2>0 2>1 w0 w1 w2 w3 /1", "2,2,0: 4<0' 4<1' 3>0 3>1 w0 w1 w2 w3 /1",
                   "2,2,0: 0<0' 0<1' 4>0 4>1 w0 w1 w2 w3 /1", "2,2,0: 1<0' 1<1' 0>0 0>1 w0 w1 w2 w3 /1",
                   "2,2,0: 2<0' 2<1' 1>0 1>1 w0 w1 w2 w3 /1"}));
  // The message of which chunks are exchanged has 64 MiB at most, and room for both at least.
  for (const auto& [mebibytes, room] :
       std::vector<std::pair<std::int64_t, int>>{{10, 6}, {16, 4}, {24, 2}, {40, 2}}) {
    key = {.kind = ProbeKind::neighbour_exchange, .ranks = 6, .bytes = {mebibytes << 20}};
    EXPECT_EQ(text_of(key, 0, 6, RankSite::memory), fmt::format("{},0,0: 5<1 1>0 w0 w1 /1", room))
        << mebibytes;
  }
}

TEST(ProbeProgram, OfExchangesBetweenNodes) {
  EXPECT_EQ(all_ranks({.kind = ProbeKind::native_exchange, .bytes = {64}, .second = 2}, 6),
            (Lines{"1,1,0: 2<0' 2>0 w0 w1 1<0' 1>0 w4 w5 2<0' 2>0 w8 w9 1<0' 1>0 w12 w13 2<0' 2>0 w16 w17 "
                   "1<0' 1>0 w20 w21 2<0' 2>0 w24 w25 1<0' 1>0 w28 w29 2<0' 2>0 w32 w33 1<0' 1>0 w36 w37 "
                   "2<0' 2>0 w40 w41 1<0' 1>0 w44 w45 /6",
                   "1,1,0: 3<0' 3>0 w0 w1 0<0' 0>0 w4 w5 3<0' 3>0 w8 w9 0<0' 0>0 w12 w13 3<0' 3>0 w16 w17 "
                   "0<0' 0>0 w20 w21 3<0' 3>0 w24 w25 0<0' 0>0 w28 w29 3<0' 3>0 w32 w33 0<0' 0>0 w36 w37 "
                   "3<0' 3>0 w40 w41 0<0' 0>0 w44 w45 /6",
                   "1,1,0: 0<0' 0>0 w0 w1 3<0' 3>0 w4 w5 0<0' 0>0 w8 w9 3<0' 3>0 w12 w13 0<0' 0>0 w16 w17 "
                   "3<0' 3>0 w20 w21 0<0' 0>0 w24 w25 3<0' 3>0 w28 w29 0<0' 0>0 w32 w33 3<0' 3>0 w36 w37 "
                   "0<0' 0>0 w40 w41 3<0' 3>0 w44 w45 /6",
                   "1,1,0: 1<0' 1>0 w0 w1 2<0' 2>0 w4 w5 1<0' 1>0 w8 w9 2<0' 2>0 w12 w13 1<0' 1>0 w16 w17 "
                   "2<0' 2>0 w20 w21 1<0' 1>0 w24 w25 2<0' 2>0 w28 w29 1<0' 1>0 w32 w33 2<0' 2>0 w36 w37 "
                   "1<0' 1>0 w40 w41 2<0' 2>0 w44 w45 /6",
                   "0,0,0: /6", "0,0,0: /6"}));
  EXPECT_EQ(all_ranks({.kind = ProbeKind::native_exchange, .bytes = {64}, .second = 3}, 6),
            (Lines{"1,1,0: 3<0' 3>0 w0 w1 1<0' 1>0 w4 w5 3<0' 3>0 w8 w9 1<0' 1>0 w12 w13 3<0' 3>0 w16 w17 "
                   "1<0' 1>0 w20 w21 3<0' 3>0 w24 w25 1<0' 1>0 w28 w29 3<0' 3>0 w32 w33 1<0' 1>0 w36 w37 "
                   "3<0' 3>0 w40 w41 1<0' 1>0 w44 w45 /6",
                   "1,1,0: 4<0' 4>0 w0 w1 0<0' 0>0 w4 w5 4<0' 4>0 w8 w9 0<0' 0>0 w12 w13 4<0' 4>0 w16 w17 "
                   "0<0' 0>0 w20 w21 4<0' 4>0 w24 w25 0<0' 0>0 w28 w29 4<0' 4>0 w32 w33 0<0' 0>0 w36 w37 "
                   "4<0' 4>0 w40 w41 0<0' 0>0 w44 w45 /6",
                   "1,1,0: 5<0' 5>0 w0 w1 5<0' 5>0 w4 w5 5<0' 5>0 w8 w9 5<0' 5>0 w12 w13 5<0' 5>0 w16 w17 "
                   "5<0' 5>0 w20 w21 /6",
                   "1,1,0: 0<0' 0>0 w0 w1 4<0' 4>0 w4 w5 0<0' 0>0 w8 w9 4<0' 4>0 w12 w13 0<0' 0>0 w16 w17 "
                   "4<0' 4>0 w20 w21 0<0' 0>0 w24 w25 4<0' 4>0 w28 w29 0<0' 0>0 w32 w33 4<0' 4>0 w36 w37 "
                   "0<0' 0>0 w40 w41 4<0' 4>0 w44 w45 /6",
                   "1,1,0: 1<0' 1>0 w0 w1 3<0' 3>0 w4 w5 1<0' 1>0 w8 w9 3<0' 3>0 w12 w13 1<0' 1>0 w16 w17 "
                   "3<0' 3>0 w20 w21 1<0' 1>0 w24 w25 3<0' 3>0 w28 w29 1<0' 1>0 w32 w33 3<0' 3>0 w36 w37 "
                   "1<0' 1>0 w40 w41 3<0' 3>0 w44 w45 /6",
                   "1,1,0: 2<0' 2>0 w0 w1 2<0' 2>0 w4 w5 2<0' 2>0 w8 w9 2<0' 2>0 w12 w13 2<0' 2>0 w16 w17 "
                   "2<0' 2>0 w20 w21 /6"}));
}

TEST(ProbeProgram, OfChainsPassesOnWhatCame) {
  EXPECT_EQ(all_ranks({.kind = ProbeKind::chained_exchange, .bytes = {64}}, 3),
            (Lines{"6,6,0: 2<0' 1>0 w0 w1 1<1' 2>0' w4 w5 2<2' 1>1' w8 w9 1<3' 2>2' w12 w13 2<4' 1>3' w16 "
                   "w17 1<5' 2>4' w20 w21 /6",
                   "6,6,0: 0<0' 2>0 w0 w1 2<1' 0>0' w4 w5 0<2' 2>1' w8 w9 2<3' 0>2' w12 w13 0<4' 2>3' w16 "
                   "w17 2<5' 0>4' w20 w21 /6",
                   "6,6,0: 1<0' 0>0 w0 w1 0<1' 1>0' w4 w5 1<2' 0>1' w8 w9 0<3' 1>2' w12 w13 1<4' 0>3' w16 "
                   "w17 0<5' 1>4' w20 w21 /6"}));
  EXPECT_EQ(all_ranks({.kind = ProbeKind::chained_exchange, .bytes = {64}}, 3, RankSite::memory),
            (Lines{"3,0,0: 2<1 1>0 w0 w1 2<2 1>1 w4 w5 2<0 1>2 w8 w9 2<1 1>0 w12 w13 2<2 1>1 w16 w17 2<0 1>2 "
                   "w20 w21 /6",
                   "3,0,0: 0<1 2>0 w0 w1 0<2 2>1 w4 w5 0<0 2>2 w8 w9 0<1 2>0 w12 w13 0<2 2>1 w16 w17 0<0 2>2 "
                   "w20 w21 /6",
                   "3,0,0: 1<1 0>0 w0 w1 1<2 0>1 w4 w5 1<0 0>2 w8 w9 1<1 0>0 w12 w13 1<2 0>1 w16 w17 1<0 0>2 "
                   "w20 w21 /6"}));
  EXPECT_EQ(all_ranks({.kind = ProbeKind::chained_exchange_posted, .bytes = {64}}, 3),
            (Lines{"6,6,0: 2<0' 2<1' 2<2' 2<3' 2<4' 2<5' 1>0 w0 w6 1>0' w1 w9 1>1' w2 w12 1>2' w3 w15 1>3' "
                   "w4 w18 1>4' w5 w21 /6",
                   "6,6,0: 0<0' 0<1' 0<2' 0<3' 0<4' 0<5' 2>0 w0 w6 2>0' w1 w9 2>1' w2 w12 2>2' w3 w15 2>3' "
                   "w4 w18 2>4' w5 w21 /6",
                   "6,6,0: 1<0' 1<1' 1<2' 1<3' 1<4' 1<5' 0>0 w0 w6 0>0' w1 w9 0>1' w2 w12 0>2' w3 w15 0>3' "
                   "w4 w18 0>4' w5 w21 /6"}));
}

TEST(ProbeProgram, OfReductionsIsTimedFromTheFirstOn) {
  const ProbeKey key = {.kind = ProbeKind::reduction, .ranks = 2, .bytes = {64 << 10}};
  EXPECT_EQ(all_ranks(key, 3), (Lines{"1,1,0: 2<0' 1>0 w0 w1 0'+0 0'+0 0'+0 0'+0 /4 from 4",
                                      "1,1,0: 0<0' 2>0 w0 w1 0'+0 0'+0 0'+0 0'+0 /4 from 4",
                                      "1,1,0: 1<0' 0>0 w0 w1 /4 from 4"}));
  EXPECT_EQ(all_ranks(key, 3, RankSite::gpu),
            (Lines{"1,1,0: 0'+0 0'+0 0'+0 0'+0 /4", "1,1,0: 0'+0 0'+0 0'+0 0'+0 /4", "0,0,0: /4"}));
  EXPECT_EQ(all_ranks(key, 3, RankSite::memory),
            (Lines{"1,1,0: 2<0' 1>0 w0 w1 0'+0 /1 from 4", "1,1,0: 0<0' 2>0 w0 w1 0'+0 /1 from 4",
                   "1,1,0: 1<0' 0>0 w0 w1 /1 from 4"}));
  for (const auto& [kibibytes, text] : std::vector<std::pair<std::int64_t, std::string>>{
           {128, "1,1,0: 0'+0 0'+0 /2"}, {200, "1,1,0: 0'+0 /1"}, {300, "1,1,0: 0'+0 /1"}}) {
    const ProbeKey alone = {.kind = ProbeKind::reduction, .ranks = 1, .bytes = {kibibytes << 10}};
    EXPECT_EQ(text_of(alone, 0, 1, RankSite::gpu), text);
  }
}

TEST(ProbeProgram, OfExchangesThatReduceAsTheyArrive) {
  ProbeKey key = {.kind = ProbeKind::reducing_exchange, .ranks = 3, .bytes = {64}};
  EXPECT_EQ(all_ranks(key, 3, RankSite::memory),
            (Lines{"3,0,1: 2<0\" 1>0 w0 w1 0\"+1 2<0\" 1>1 w5 w6 0\"+2 /2",
                   "3,0,1: 0<0\" 2>0 w0 w1 0\"+1 0<0\" 2>1 w5 w6 0\"+2 /2",
                   "3,0,1: 1<0\" 0>0 w0 w1 0\"+1 1<0\" 0>1 w5 w6 0\"+2 /2"}));
  key.kind = ProbeKind::writing_exchange;
  EXPECT_EQ(all_ranks(key, 3, RankSite::memory),
            (Lines{"3,0,1: 2<0\" 1>0 w0 w1 0\"+1 /1", "3,0,1: 0<0\" 2>0 w0 w1 0\"+1 /1",
                   "3,0,1: 1<0\" 0>0 w0 w1 0\"+1 /1"}));
  key.ranks = 2;
  for (const ProbeKind kind : {ProbeKind::reducing_exchange, ProbeKind::writing_exchange}) {
    key.kind = kind;
    EXPECT_EQ(all_ranks(key, 2, RankSite::memory),
              (Lines{"2,0,1: 1<0\" 1>0 w0 w1 0\"+1 /1", "2,0,1: 0<0\" 0>0 w0 w1 0\"+1 /1"}));
  }
}

TEST(ProbeProgram, MovesWholeElements) {
  for (const std::int64_t bytes : {0, -4, 1, 6}) {
    EXPECT_THROW(probe_program({.kind = ProbeKind::send, .bytes = {bytes}}, 0, 2, RankSite::cpu), Bug)
        << bytes;
  }
}

}  // namespace
}  // namespace ringside
