#include "schedule/proof.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "requests.hpp"
#include "schedule/registry.hpp"
#include "schedule/schedule.hpp"
#include "scripted.hpp"

namespace ringside {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr MoveKind kReduce = MoveKind::reduce;

void expect_proof_holds(const Schedule& schedule) {
  EXPECT_THAT(prove(schedule).faults, IsEmpty()) << label(schedule);
}

TEST(Proof, HoldsForEveryAlgorithmAndNumberOfRanks) {
  for_each_schedule(plain_requests(), expect_proof_holds);
}

TEST(Proof, HoldsForOtherRootsSegmentsAndNodes) { for_each_schedule(unusual_requests(), expect_proof_holds); }

TEST(Proof, HoldsInAnyOrderOfRanks) {
  for (const int n : {2, 3, 6, 8, 9}) {
    for (const std::vector<Rank>& order : unusual_orders(n)) {
      for (Rank root = 0; root < n; root += 2) {
        for_each_schedule({{.num_ranks = n}}, [&](const Schedule& plain) {
          if (!scattered(plain.algorithm().collective)) {
            expect_proof_holds(Schedule(plain.algorithm(), {.num_ranks = n, .root = root, .order = order}));
          }
        });
      }
    }
  }
}

/// Damages each needed move in turn, in every algorithm, and expects the proof to fail.
using Damage = void (*)(std::vector<Move>& round, std::size_t index);

void expect_proof_notices(Damage damage) {
  const std::vector<ScheduleRequest> requests = {
      {.num_ranks = 2}, {.num_ranks = 3}, {.num_ranks = 6, .ranks_per_node = 3}, {.num_ranks = 8, .root = 5}};
  for_each_schedule(requests, [&](const Schedule& schedule) {
    const Proof proof = prove(schedule);
    const Script script = script_of(schedule);
    for (std::size_t round = 0; round < script.rounds.size(); ++round) {
      for (std::size_t index = 0; index < script.rounds[round].size(); ++index) {
        const RedundantMove move = {.round = static_cast<std::int64_t>(round),
                                    .move = script.rounds[round][index]};
        if (std::find(proof.redundant.begin(), proof.redundant.end(), move) != proof.redundant.end()) {
          continue;
        }
        Script damaged = script;
        damage(damaged.rounds[round], index);
        const Schedule wrong = scripted_schedule(damaged, schedule.num_ranks(), schedule.request().root);
        EXPECT_FALSE(prove(wrong).holds()) << label(schedule) << ", round " << round << ", move " << index;
      }
    }
  });
}

TEST(Proof, NoticesEveryMissingMove) {
  expect_proof_notices([](std::vector<Move>& round, std::size_t index) {
    round.erase(round.begin() + static_cast<std::ptrdiff_t>(index));
  });
}

TEST(Proof, NoticesEveryMoveMadeTwice) {
  expect_proof_notices([](std::vector<Move>& round, std::size_t index) { round.push_back(round[index]); });
}

TEST(Proof, NoticesEveryCopyThatShouldReduceAndEveryReductionThatShouldCopy) {
  expect_proof_notices([](std::vector<Move>& round, std::size_t index) {
    round[index].kind = round[index].kind == kReduce ? MoveKind::copy : kReduce;
  });
}

TEST(Proof, HoldsWithoutTheRedundantMoves) {
  for (int n = 2; n <= 9; ++n) {
    for_each_schedule({{.num_ranks = n}}, [](const Schedule& schedule) {
      Script script = script_of(schedule);
      for (const RedundantMove& redundant : prove(schedule).redundant) {
        std::vector<Move>& round = script.rounds[static_cast<std::size_t>(redundant.round)];
        round.erase(std::find(round.begin(), round.end(), redundant.move));
      }
      const Proof proof = prove(scripted_schedule(script, schedule.num_ranks()));
      EXPECT_THAT(proof.faults, IsEmpty()) << label(schedule);
      EXPECT_THAT(proof.redundant, IsEmpty()) << label(schedule);
    });
  }
}

std::vector<std::string> faults_of(std::vector<std::vector<Move>> rounds, Script script = {},
                                   Collective collective = Collective::all_reduce) {
  script.collective = collective;
  script.rounds = std::move(rounds);
  return prove(scripted_schedule(std::move(script), 3)).faults;
}

TEST(Proof, NamesRoundChunkAndRanksOfAFault) {
  EXPECT_THAT(faults_of({}), ElementsAre("at the end chunk 0 of rank 0 lacks the contribution of 1, 2",
                                         "at the end chunk 0 of rank 1 lacks the contribution of 0, 2",
                                         "at the end chunk 0 of rank 2 lacks the contribution of 0, 1"));
  EXPECT_THAT(
      faults_of(
          {{{.source = 1, .target = 0, .kind = kReduce}}, {{.source = 1, .target = 0, .kind = kReduce}}}),
      Contains("round 1: the reduction of chunk 0 from rank 1 to rank 0 counts the contribution of rank 1 "
               "twice"));
}

TEST(Proof, TellsMoreRanksApartThanAWordHasBits) {
  for (const int n : {64, 65, 128, 129}) {
    const Schedule naive(*find_algorithm(Collective::all_reduce, "naive"), {.num_ranks = n});
    expect_proof_holds(naive);
    Script script = script_of(naive);
    for (std::vector<Move>& round : script.rounds) {
      std::erase_if(round, [&](const Move& move) { return move.source == n - 1 && move.kind == kReduce; });
    }
    EXPECT_THAT(prove(scripted_schedule(script, n)).faults.front(),
                HasSubstr(fmt::format("of rank 0 lacks the contribution of {}", n - 1)));
  }
}

TEST(Proof, FindsCopiesThatCollide) {
  EXPECT_THAT(faults_of({{{.source = 0, .target = 1}, {.source = 2, .target = 1}}}),
              Contains(HasSubstr("and another move write chunk 0 of rank 1 in the same round")));
  EXPECT_THAT(faults_of({{{.source = 0, .target = 1, .kind = kReduce}, {.source = 2, .target = 1}}}),
              Contains(HasSubstr("and another move write chunk 0 of rank 1 in the same round")));
  EXPECT_THAT(faults_of({{{.source = 0, .target = 1}, {.source = 2, .target = 1, .kind = kReduce}}}),
              Contains(HasSubstr("and another move write chunk 0 of rank 1 in the same round")));
  EXPECT_THAT(faults_of({{{.source = 0, .target = 1}, {.source = 1, .target = 2}}}),
              Contains(HasSubstr("lands on chunk 0, which rank 1 sends in the same round")));
  const Move two_chunks = {.source = 0, .target = 1, .first_chunk = 1, .num_chunks = 2};
  EXPECT_THAT(faults_of({{two_chunks, {.source = 1, .target = 2, .first_chunk = 2}}}, {.num_chunks = 3}),
              Contains(HasSubstr("lands on chunk 2, which rank 1 sends in the same round")));
  EXPECT_THAT(faults_of({{two_chunks, {.source = 2, .target = 1, .first_chunk = 2}}}, {.num_chunks = 3}),
              Contains(HasSubstr("and another move write chunk 2 of rank 1 in the same round")));
}

TEST(Proof, AllowsExchangesAndSeveralReductionsIntoOneChunk) {
  std::vector<Move> all_at_once;
  for (Rank source = 0; source < 3; ++source) {
    for (Rank target = 0; target < 3; ++target) {
      if (source != target) {
        all_at_once.push_back({.source = source, .target = target, .kind = kReduce});
      }
    }
  }
  EXPECT_THAT(faults_of({all_at_once}), IsEmpty());
}

TEST(Proof, FindsReadsOfWhatWasNeverDefined) {
  EXPECT_THAT(
      faults_of({{{.source = 0, .target = 1, .source_buffer = 1}}}, {.num_buffers = 2}),
      Contains("round 0: the copy of chunk 0 from rank 0's scratch buffer 1 to rank 1 reads chunk 0, which "
               "nothing has defined"));
  EXPECT_THAT(
      faults_of({{{.source = 0, .target = 1, .kind = kReduce, .target_buffer = 1}}}, {.num_buffers = 2}),
      Contains(HasSubstr("reduces into chunk 0, which nothing has defined")));
  EXPECT_THAT(faults_of({{{.source = 1, .target = 2}}}, {}, Collective::broadcast),
              Contains(HasSubstr("reads chunk 0, which nothing has defined")));
}

TEST(Proof, FindsMovesOfWhatDoesNotExist) {
  EXPECT_THAT(faults_of({{{.source = 0, .target = 3}}}), Contains(HasSubstr("ranks are 0 to 2")));
  EXPECT_THAT(faults_of({{{.source = -1, .target = 0}}}), Contains(HasSubstr("ranks are 0 to 2")));
  EXPECT_THAT(faults_of({{{.source = 0, .target = 1, .first_chunk = 1, .num_chunks = 2}}}, {.num_chunks = 2}),
              Contains(HasSubstr("chunks are 0 to 1")));
  EXPECT_THAT(faults_of({{{.source = 0, .target = 1, .num_chunks = 0}}}), Contains(HasSubstr("chunks are")));
  EXPECT_THAT(faults_of({{{.source = 0, .target = 1, .target_buffer = 1}}}),
              Contains(HasSubstr("buffers are 0 to 0")));
}

TEST(Proof, KnowsWhatEachCollectiveStartsFrom) {
  // A broadcast whose root is overwritten by a reduction of itself.
  EXPECT_THAT(faults_of({{{.source = 0, .target = 0, .kind = kReduce}}}, {}, Collective::broadcast),
              Contains(HasSubstr("counts the contribution of rank 0 twice")));
  // A gather that reduces one rank's part onto another's: parts must stay on chunks of their own.
  EXPECT_THAT(
      faults_of({{{.source = 1, .target = 0, .first_chunk = 0}}}, {.num_chunks = 3}, Collective::gather),
      Contains(HasSubstr("reads chunk 0, which nothing has defined")));
  EXPECT_THAT(faults_of({}, {.num_chunks = 2}, Collective::reduce_scatter),
              ElementsAre(HasSubstr("2 chunks cannot be dealt out evenly")));
}

TEST(Proof, SaysTheFirstOfManyFaultsAndHowManyMoreThereAre) {
  const std::vector<std::string> faults = faults_of({}, {.num_chunks = 30});
  ASSERT_THAT(faults, SizeIs(21));
  EXPECT_EQ(faults.back(), "and 70 more faults");
  EXPECT_THAT(prove(scripted_schedule({.num_chunks = 5}, 4)).faults, Each(HasSubstr("lacks")))
      << "20 are all said";
  EXPECT_EQ(prove(scripted_schedule({.num_chunks = 7}, 3)).faults.back(), "and 1 more faults");
}

TEST(Proof, FindsNothingRedundantInTheCirculatingRing) {
  for (int n = 2; n <= 9; ++n) {
    const Schedule schedule(*find_algorithm(Collective::all_reduce, "circulating_ring"), {.num_ranks = n});
    EXPECT_EQ(prove(schedule).first_redundant_tail_round, schedule.num_rounds()) << n;
  }
}

TEST(Proof, FindsThatTheSecondHalfOfTheTutorialRingIsRedundant) {
  const Algorithm& tutorial_ring = *find_algorithm(Collective::all_reduce, "tutorial_ring");
  for (int n = 2; n <= 9; ++n) {
    const Schedule schedule(tutorial_ring, {.num_ranks = n});
    const Proof proof = prove(schedule);
    EXPECT_EQ(proof.first_redundant_tail_round, 2 * (n - 1)) << n;
    EXPECT_EQ(schedule.num_rounds() - proof.first_redundant_tail_round, n - 1) << n;
    EXPECT_THAT(proof.redundant, SizeIs(static_cast<std::size_t>((n - 1) * n))) << n;
  }
}

TEST(Proof, FindsNothingRedundantInAlgorithmsWithoutScratch) {
  for_each_schedule(plain_requests(), [](const Schedule& schedule) {
    if (schedule.num_buffers() == 1) {
      const Proof proof = prove(schedule);
      EXPECT_THAT(proof.redundant, IsEmpty()) << label(schedule);
      EXPECT_EQ(proof.first_redundant_tail_round, schedule.num_rounds()) << label(schedule);
    }
  });
}

TEST(Proof, FindsCopiesThatNobodyReads) {
  // A reduction to the root, and a copy of the result that no promise and no later move asks for.
  const Script script = {
      .collective = Collective::reduce,
      .rounds = {{{.source = 1, .target = 0, .kind = kReduce}}, {{.source = 0, .target = 1}}}};
  const Proof proof = prove(scripted_schedule(script, 2));
  EXPECT_THAT(proof.faults, IsEmpty());
  EXPECT_EQ(proof.first_redundant_tail_round, 1);
  ASSERT_THAT(proof.redundant, SizeIs(1));
  EXPECT_EQ(proof.redundant[0].round, 1);
  EXPECT_EQ(proof.redundant[0].move.target, 1);
}

}  // namespace
}  // namespace ringside
