#include "schedule/describe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "requests.hpp"
#include "schedule/registry.hpp"
#include "scripted.hpp"

namespace ringside {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Schedule all_reduce(const char* name, int num_ranks) {
  return Schedule(*find_algorithm(Collective::all_reduce, name), {.num_ranks = num_ranks});
}

std::vector<std::string> findings(const Schedule& schedule) { return findings(schedule, prove(schedule)); }

TEST(Describe, NamesRanksChunksAndBuffersOfAMove) {
  const Schedule schedule = all_reduce("ring", 4);
  EXPECT_EQ(describe(schedule, {.source = 0, .target = 1, .first_chunk = 3, .kind = MoveKind::reduce}),
            "0 → 1: reduce chunk 3");
  EXPECT_EQ(describe(schedule, {.source = 2, .target = 0, .first_chunk = 1, .num_chunks = 2}),
            "2 → 0: copy chunks 1–2");
  EXPECT_EQ(
      describe(schedule, {.source = 2, .target = 2, .num_chunks = 4, .source_buffer = 1, .target_buffer = 2}),
      "2: copy everything from scratch 1 into scratch 2");
}

TEST(Describe, SaysOnceWhatAllRanksDoAlike) {
  EXPECT_THAT(describe_round(all_reduce("ring", 4), 0),
              ElementsAre("every i → i+1: reduce chunk i−1 (mod 4)"));
  EXPECT_THAT(describe_round(all_reduce("ring", 4), 3), ElementsAre("every i → i+1: copy chunk i (mod 4)"));
  EXPECT_THAT(describe_round(all_reduce("pipelined_ring", 4), 7),
              ElementsAre("every i → i+1: copy chunk 2i+1 (mod 8)"));
  EXPECT_THAT(describe_round(all_reduce("tutorial_ring", 5), 1),
              ElementsAre("every i: reduce everything from scratch 1"));
  EXPECT_THAT(describe_round(all_reduce("recursive_doubling", 4), 1),
              ElementsAre("every i → i+2: reduce everything"));
}

TEST(Describe, SaysOnceThatEveryRankSendsToEveryOther) {
  EXPECT_THAT(describe_round(all_reduce("direct", 4), 0),
              ElementsAre("every i → every other j: reduce everything"));
  EXPECT_THAT(describe_round(all_reduce("direct_two_shot", 4), 0),
              ElementsAre("every i → every other j: reduce chunk j"));
  EXPECT_THAT(describe_round(all_reduce("direct_two_shot", 4), 1),
              ElementsAre("every i → every other j: copy chunk i"));
}

TEST(Describe, ListsMovesThatDiffer) {
  EXPECT_THAT(describe_round(all_reduce("binomial_tree", 4), 0),
              ElementsAre("1 → 0: reduce everything", "3 → 2: reduce everything"));
  EXPECT_THAT(describe_round(all_reduce("recursive_doubling", 3), 1),
              ElementsAre("1 → 2: reduce everything", "2 → 1: reduce everything"));
}

TEST(Describe, TotalsCountAllMoves) {
  const ScheduleTotals naive = total(all_reduce("naive", 4));
  EXPECT_EQ(naive.num_rounds, 6);
  EXPECT_EQ(naive.num_messages, 6);
  EXPECT_DOUBLE_EQ(naive.bytes_sent, 6);
  EXPECT_DOUBLE_EQ(naive.bytes_sent_by_busiest, 3);
  EXPECT_DOUBLE_EQ(naive.bytes_reduced_by_busiest, 3);
  EXPECT_DOUBLE_EQ(naive.critical_path.bytes, 6);
  const ScheduleTotals tutorial_ring = total(all_reduce("tutorial_ring", 4));
  EXPECT_EQ(tutorial_ring.num_messages, 24);
  EXPECT_DOUBLE_EQ(tutorial_ring.bytes_sent_by_busiest, 6);
  EXPECT_DOUBLE_EQ(tutorial_ring.bytes_reduced_by_busiest, 3);
}

TEST(Describe, TellsThatHalfOfTheTutorialRingIsRedundantAndItsChunklessnessCostly) {
  EXPECT_THAT(
      findings(all_reduce("tutorial_ring", 4)),
      ElementsAre(
          "The last 3 rounds change nothing: every rank already holds every contribution after round 6.",
          "Its critical path carries 6·S, as many bytes as naive's.",
          "All ranks together send 24·S, more bytes than naive's 6·S: this hurts on a medium that all "
          "share."));
  EXPECT_THAT(
      findings(all_reduce("tutorial_ring", 2)),
      Contains("The last round changes nothing: every rank already holds every contribution after round 2."));
}

TEST(Describe, TellsWhatARingGainsAndWhereItDoesNot) {
  EXPECT_THAT(
      findings(all_reduce("ring", 4)),
      ElementsAre("All ranks together send 6·S, as many bytes as with naive: on one medium that all share it "
                  "gains little.",
                  "No rank sends more than 1.5·S, the least that any all_reduce can do."));
}

TEST(Describe, HasNothingToTellOfNaiveAndOfOneRank) {
  for_each_schedule({{.num_ranks = 1}}, [](const Schedule& schedule) {
    EXPECT_THAT(findings(schedule), IsEmpty()) << label(schedule);
  });
  for_each_schedule({{.num_ranks = 5}}, [](const Schedule& schedule) {
    if (schedule.algorithm().name == "naive") {
      EXPECT_THAT(findings(schedule), IsEmpty()) << label(schedule);
    }
  });
}

TEST(Describe, TellsThatAScheduleIsWrong) {
  const Schedule schedule = scripted_schedule({.rounds = {{{.source = 0, .target = 1}}}}, 2);
  EXPECT_THAT(findings(schedule),
              Contains("It is wrong: at the end chunk 0 of rank 0 lacks the contribution of 1."));
  EXPECT_THAT(findings(schedule), Not(Contains(HasSubstr("change nothing"))));
}

TEST(Describe, TellsOfRedundantMovesBeforeTheEnd) {
  const Script script = {
      .collective = Collective::broadcast,
      .rounds = {{{.source = 0, .target = 1}}, {{.source = 0, .target = 1}}, {{.source = 0, .target = 2}}}};
  EXPECT_THAT(findings(scripted_schedule(script, 3)), Contains(HasSubstr("1 of the moves")));
}

TEST(Describe, MovesOfDifferentKindsAreNoPattern) {
  const Script script = {.rounds = {{{.source = 0, .target = 1, .kind = MoveKind::copy},
                                     {.source = 1, .target = 0, .kind = MoveKind::reduce}}}};
  EXPECT_EQ(describe_round(scripted_schedule(script, 2), 0).size(), 2U);
}

TEST(Describe, AnExchangeIsOneWhereAllItsMovesAreAlike) {
  std::vector<Move> moves;
  for (Rank source = 0; source < 3; ++source) {
    for (Rank target = 0; target < 3; ++target) {
      if (source != target) {
        moves.push_back({.source = source, .target = target, .first_chunk = target});
      }
    }
  }
  const Schedule schedule = scripted_schedule({.num_chunks = 4, .num_buffers = 2, .rounds = {{}}}, 3);
  const auto sentences = [&](auto change) {
    std::vector<Move> changed = moves;
    change(changed);
    return describe_moves(schedule, changed).size();
  };
  EXPECT_EQ(sentences([](auto&) {}), 1U);
  EXPECT_EQ(sentences([](auto& all) { all[3].kind = MoveKind::reduce; }), 6U);
  EXPECT_EQ(sentences([](auto& all) { all[3].num_chunks = 2; }), 6U);
  EXPECT_EQ(sentences([](auto& all) { all[3].first_chunk = 3; }), 6U);
  EXPECT_EQ(sentences([](auto& all) { all[3].source_buffer = 1; }), 6U);
  EXPECT_EQ(sentences([](auto& all) { all[3].target_buffer = 1; }), 6U);
  EXPECT_EQ(sentences([](auto& all) { all[3].target = all[3].source; }), 6U) << "a local move";
  EXPECT_EQ(sentences([](auto& all) { all[1] = all[0]; }), 6U) << "one pair twice";
  EXPECT_EQ(sentences([](auto& all) {
              for (Move& move : all) {
                move.num_chunks = 2;
              }
            }),
            6U)
      << "chunks j and j+1";
}

TEST(Describe, APatternIsOneWhereAllItsMovesAreAlike) {
  const Schedule schedule = scripted_schedule({.num_chunks = 4, .num_buffers = 2, .rounds = {{}}}, 4);
  const auto sentences = [&](auto change) {
    std::vector<Move> moves;
    for (Rank source = 0; source < 4; ++source) {
      moves.push_back({.source = source, .target = (source + 1) % 4, .first_chunk = source});
    }
    change(moves);
    return describe_moves(schedule, moves).size();
  };
  EXPECT_EQ(sentences([](auto&) {}), 1U);
  EXPECT_EQ(sentences([](auto& all) { all[2].target = 0; }), 4U);
  EXPECT_EQ(sentences([](auto& all) { all[2].kind = MoveKind::reduce; }), 4U);
  EXPECT_EQ(sentences([](auto& all) { all[2].num_chunks = 2; }), 4U);
  EXPECT_EQ(sentences([](auto& all) { all[2].first_chunk = 1; }), 4U);
  EXPECT_EQ(sentences([](auto& all) { all[2].source_buffer = 1; }), 4U);
  EXPECT_EQ(sentences([](auto& all) { all[2].target_buffer = 1; }), 4U);
  EXPECT_EQ(sentences([](auto& all) { all.pop_back(); }), 3U);
}

TEST(Describe, TheLeastOfAnAllReduceIsSaidOfAllReducesAlone) {
  const Schedule broadcast(*find_algorithm(Collective::broadcast, "binomial_tree"),
                           {.collective = Collective::broadcast, .num_ranks = 2});
  EXPECT_THAT(findings(broadcast), Not(Contains(HasSubstr("any all_reduce"))));
}

}  // namespace
}  // namespace ringside
