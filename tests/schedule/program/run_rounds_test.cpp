#include "schedule/program/run_rounds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedule/describe.hpp"
#include "schedule/program/policy.hpp"
#include "schedule/registry.hpp"

namespace ringside {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;

const ExecutionPolicy kInSegments = {.receives_ahead = true, .segments = 6, .stride = 4, .in_flight = 4};

RunRounds run(const char* algorithm, const ExecutionPolicy& policy, int num_ranks = 4) {
  return {Schedule(*find_algorithm(Collective::all_reduce, algorithm), {.num_ranks = num_ranks}),
          {.num_elements = 1 << 20},
          policy};
}

auto line(const char* posted_in, const char* moves) {
  return AllOf(Field(&RunLine::posted_in, posted_in), Field(&RunLine::moves, moves));
}

TEST(RunRounds, WithoutAPolicyAreTheScheduleAndItsReceivesArePostedInTheirRound) {
  for (const char* algorithm : {"naive", "ring", "binomial_tree", "recursive_doubling", "tutorial_ring"}) {
    const RunRounds plain = run(algorithm, {});
    const Schedule& schedule = plain.execution().schedule();
    ASSERT_EQ(plain.num_rounds(), schedule.num_rounds());
    for (std::int64_t round = 0; round < schedule.num_rounds(); ++round) {
      std::vector<std::string> moves;
      for (const RunLine& one : describe_round(plain, round)) {
        moves.push_back(one.moves);
      }
      EXPECT_EQ(moves, describe_round(schedule, round)) << algorithm;
      for (const RunMove& one : plain.round(round)) {
        EXPECT_EQ(one.posted_in, round) << algorithm;
      }
    }
  }
}

TEST(RunRounds, SayInWhichEarlierRoundAReceiveIsPosted) {
  const RunRounds ring = run("ring", {.receives_ahead = true});
  EXPECT_THAT(describe_round(ring, 0), ElementsAre(line("1", "every i → i+1: reduce chunk i−1 (mod 4)")));
  const std::vector<RunMove> last = ring.round(5);
  ASSERT_EQ(last.size(), 4U);
  for (const RunMove& one : last) {
    EXPECT_LT(one.posted_in, 5);
  }
}

TEST(RunRounds, NameTheSegmentsAndTheRoundsInFlight) {
  const RunRounds ring = run("ring", kInSegments);
  EXPECT_EQ(ring.num_rounds(), 6 + 4 * 5);
  EXPECT_THAT(describe_round(ring, 3),
              ElementsAre(line("1", "every i → i+1: reduce segment 3 of chunk i−1 (mod 4)")));
  // Segment 0 is on its second way while segment 4 is on its first.
  EXPECT_THAT(describe_round(ring, 4),
              ElementsAre(line("2", "every i → i+1: reduce segment 0 of chunk i+2 (mod 4)"),
                          line("2", "every i → i+1: reduce segment 4 of chunk i−1 (mod 4)")));
}

TEST(RunRounds, HaveEveryMoveOfTheScheduleInEverySegmentOnce) {
  const RunRounds ring = run("ring", kInSegments);
  const Schedule& schedule = ring.execution().schedule();
  std::size_t moves = 0;
  for (std::int64_t round = 0; round < ring.num_rounds(); ++round) {
    moves += ring.round(round).size();
  }
  EXPECT_EQ(static_cast<std::int64_t>(moves), 6 * total(schedule).num_messages);
}

}  // namespace
}  // namespace ringside
