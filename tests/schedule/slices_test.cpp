#include "schedule/slices.hpp"

#include <map>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "schedule/registry.hpp"

namespace ringside {
namespace {

Schedule ring_of(int num_ranks, Collective collective = Collective::all_reduce) {
  return {*find_algorithm(collective, "ring"), {.collective = collective, .num_ranks = num_ranks}};
}

TEST(Slices, AreOfLongMessagesOnly) {
  const Schedule ring = ring_of(2);
  EXPECT_EQ(slicing_of(ring, {1 << 20}, Cores::own), Slicing());
  EXPECT_EQ(slicing_of(ring, {8 << 20}, Cores::own), (Slicing{.count = 11, .stride = 4, .at_once = 4}))
      << "a chunk of 4 MiB in slices of at most 384 KiB";
  EXPECT_EQ(slicing_of(ring_of(8), {8 << 20}, Cores::own), Slicing()) << "a chunk of 1 MiB";
}

TEST(Slices, AreLongerWhereRanksShareCores) {
  const Schedule ring = ring_of(4);
  EXPECT_EQ(slicing_of(ring, {2 << 20}, Cores::shared), Slicing()) << "a chunk of 512 KiB";
  EXPECT_EQ(slicing_of(ring, {4 << 20}, Cores::shared), (Slicing{.count = 2, .stride = 2, .at_once = 2}));
  EXPECT_EQ(slicing_of(ring, {16 << 20}, Cores::shared), (Slicing{.count = 6, .stride = 6, .at_once = 2}));
}

TEST(Slices, AreOfSchedulesThatKeepAllLinksBusy) {
  const auto slices = [](std::string_view algorithm, int num_ranks) {
    return slicing_of({*find_algorithm(Collective::all_reduce, algorithm), {.num_ranks = num_ranks}},
                      {256 << 20}, Cores::own)
        .count;
  };
  EXPECT_GT(slices("ring", 4), 1);
  EXPECT_EQ(slices("naive", 4), 1) << "its root receives, then sends";
  EXPECT_EQ(slices("halving_doubling", 4), 1) << "its peers change";
  EXPECT_GT(slices("halving_doubling", 2), 1) << "which is a ring";
  EXPECT_EQ(slices("tutorial_ring", 4), 1) << "it adds on the side";
}

/// Moves of one slice, in order, as the schedule in whole chunks has them.
std::map<std::int32_t, std::vector<Move>> moves_by_slice(const Schedule& sliced) {
  std::map<std::int32_t, std::vector<Move>> result;
  std::vector<Move> moves;
  for (std::int64_t round = 0; round < sliced.num_rounds(); ++round) {
    sliced.write_round(round, moves);
    for (Move move : moves) {
      const std::int32_t slice = move.first_chunk % sliced.slicing().count;
      move.first_chunk /= sliced.slicing().count;
      result[slice].push_back(move);
    }
  }
  return result;
}

TEST(Slices, EachGoTheWayOfTheWholeChunk) {
  for (const Collective collective : {Collective::all_reduce, Collective::reduce_scatter}) {
    const Schedule ring = ring_of(3, collective);
    std::vector<Move> whole;
    std::vector<Move> moves;
    for (std::int64_t round = 0; round < ring.num_rounds(); ++round) {
      ring.write_round(round, moves);
      whole.insert(whole.end(), moves.begin(), moves.end());
    }
    const auto by_slice = moves_by_slice(ring.in_slices({.count = 5, .stride = 4, .at_once = 4}));
    ASSERT_EQ(by_slice.size(), 5U);
    for (const auto& [slice, of_slice] : by_slice) {
      EXPECT_EQ(of_slice, whole) << "slice " << slice;
    }
  }
}

class SlicesAtOnce : public ::testing::TestWithParam<std::int32_t> {};

TEST_P(SlicesAtOnce, AreOfDifferentChunks) {
  const Schedule sliced = ring_of(4).in_slices({.count = 7, .stride = GetParam(), .at_once = GetParam()});
  EXPECT_EQ(sliced.num_chunks(), 28);
  std::map<std::int32_t, std::int64_t> last_round;
  std::vector<Move> moves;
  for (std::int64_t round = 0; round < sliced.num_rounds(); ++round) {
    sliced.write_round(round, moves);
    EXPECT_FALSE(moves.empty()) << "round " << round;
    std::set<std::int32_t> slices;
    for (const Move& move : moves) {
      slices.insert(move.first_chunk % 7);
    }
    for (const std::int32_t slice : slices) {
      if (last_round.contains(slice)) {
        EXPECT_EQ(round - last_round[slice], GetParam());
      }
      last_round[slice] = round;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Strides, SlicesAtOnce, ::testing::Values(1, 2, 4, 7));

}  // namespace
}  // namespace ringside
