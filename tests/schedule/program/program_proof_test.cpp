#include "schedule/program/program_proof.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "schedule/program/policy.hpp"
#include "schedule/registry.hpp"
#include "tests/schedule/requests.hpp"
#include "tests/schedule/scripted.hpp"

namespace ringside {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Property;
using ::testing::Throws;
using ::testing::UnorderedElementsAreArray;

/// Rules that cut messages of a test's size, beside those that ringside runs by.
std::vector<ExecutionRules> rules() {
  std::vector<ExecutionRules> all = {{}, {.receives_ahead = true}};
  for (const int in_flight : {1, 2, 3, 4}) {
    for (const bool interleaved : {false, true}) {
      all.push_back(
          {.receives_ahead = true,
           .segments = SegmentRule{.longest = {200}, .in_flight = in_flight, .interleaved = interleaved}});
    }
  }
  return all;
}

TEST(ProgramProof, HoldsForEveryAlgorithmUnderEveryPolicy) {
  int cut = 0;
  for_each_schedule(requests_of_few_ranks(), [&](const Schedule& schedule) {
    for (const std::int64_t num_elements :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{7}, std::int64_t{100},
          std::int64_t{211} * schedule.num_ranks() + 1}) {
      std::vector<ExecutionPolicy> proved;
      for (const ExecutionRules& rule : rules()) {
        const ExecutionPolicy policy = policy_for(schedule, {4 * num_elements}, rule);
        // Rules that cut nothing of this message give one and the same policy.
        if (std::find(proved.begin(), proved.end(), policy) != proved.end()) {
          continue;
        }
        proved.push_back(policy);
        cut += policy.segments > 1 ? 1 : 0;
        ASSERT_THAT(faults_under(schedule, {.num_elements = num_elements}, policy), IsEmpty())
            << label(schedule) << ", " << num_elements << " elements, " << describe(policy);
      }
    }
  });
  EXPECT_GT(cut, 100);
}

TEST(ProgramProof, HoldsForLongMessagesByTheRulesOfEverySite) {
  for (const RankSiteRow& site : kRankSites) {
    for (const Collective collective :
         {Collective::all_reduce, Collective::reduce_scatter, Collective::all_gather}) {
      for (const int n : {2, 3, 8}) {
        const Schedule ring(*find_algorithm(collective, "ring"), {.collective = collective, .num_ranks = n});
        const Vector vector = {.num_elements = n * 1'000'001LL, .op = ReduceOp::avg};
        ASSERT_THAT(faults_under(ring, vector, policy_for(ring, {4 * vector.num_elements}, site.rules)),
                    IsEmpty())
            << label(ring) << ", " << name(site.site);
      }
    }
  }
}

/// The programs of a ring of 3 ranks that receives ahead.
class BrokenPrograms : public ::testing::Test {
 protected:
  BrokenPrograms() {
    for (Rank rank = 0; rank < 3; ++rank) {
      programs_.push_back(compile(ring_, {.num_elements = 6}, rank, {.receives_ahead = true}));
    }
  }

  std::vector<Step>& steps(Rank rank) { return programs_[static_cast<std::size_t>(rank)].steps; }
  /// The first step of this kind at rank 0 from `from` on.
  std::size_t find(StepKind kind, std::size_t from = 0) {
    const auto found = std::find_if(steps(0).begin() + static_cast<std::ptrdiff_t>(from), steps(0).end(),
                                    [kind](const Step& step) { return step.kind == kind; });
    return static_cast<std::size_t>(found - steps(0).begin());
  }
  std::vector<std::string> faults() { return faults_of_programs(ring_, programs_); }

  Schedule ring_{*find_algorithm(Collective::all_reduce, "ring"), {.num_ranks = 3}};
  std::vector<Program> programs_;
};

TEST_F(BrokenPrograms, AreNoneBefore) { EXPECT_THAT(faults(), IsEmpty()); }

TEST_F(BrokenPrograms, AReceiveOverWhatIsStillSentIsFound) {
  // The chunk that rank 0 sends first is where the last round's copy arrives.
  Step& receive = steps(0)[2];
  ASSERT_EQ(receive.kind, StepKind::receive);
  receive.target = steps(0)[1].source;
  const Region& sent = steps(0)[1].source;
  ASSERT_GT(sent.bytes, 0);
  EXPECT_THAT(faults(), Contains(AllOf(HasSubstr("which step 1 still sends"),
                                       HasSubstr(fmt::format("bytes {} to {} of buffer {}", sent.offset,
                                                             sent.offset + sent.bytes, sent.buffer)))));
}

TEST_F(BrokenPrograms, AReductionOfWhatHasNotArrivedIsFound) {
  const std::size_t wait = find(StepKind::wait);
  std::swap(steps(0)[wait], steps(0)[wait + 1]);
  EXPECT_THAT(faults(), Contains(HasSubstr("still receives")));
}

TEST_F(BrokenPrograms, MessagesInAnotherOrderAreFound) {
  const std::size_t first = find(StepKind::receive);
  const std::size_t second = find(StepKind::receive, first + 1);
  std::swap(steps(0)[first].origin, steps(0)[second].origin);
  EXPECT_THAT(faults(), Contains(HasSubstr("receives another message than rank 2 sends")));
}

TEST_F(BrokenPrograms, AReductionThatIsLeftOutIsFound) {
  const std::size_t reduction = find(StepKind::reduce);
  steps(0)[reduction].kind = StepKind::copy;
  EXPECT_THAT(faults(), Contains(HasSubstr("ends without the result of chunk")));
}

TEST_F(BrokenPrograms, ProgramsThatDoNothingLackEveryResult) {
  std::vector<std::string> expected;
  for (Rank rank = 0; rank < 3; ++rank) {
    steps(rank).clear();
    for (int chunk = 0; chunk < 3; ++chunk) {
      expected.push_back(fmt::format("rank {} ends without the result of chunk {}", rank, chunk));
    }
  }
  EXPECT_THAT(faults(), UnorderedElementsAreArray(expected));
}

TEST_F(BrokenPrograms, ACopyIsNoReduction) {
  const Region chunk = steps(0)[find(StepKind::reduce)].target;
  steps(0).push_back({.kind = StepKind::copy, .source = chunk, .target = chunk});
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(BrokenPrograms, ThoseOfABrokenScheduleAreFoundUnderAPolicy) {
  Script script = script_of(ring_);
  std::vector<std::string> expected;
  for (const Move& move : script.rounds.back()) {
    expected.push_back(
        fmt::format("rank {} ends without the result of chunk {}", move.target, move.first_chunk));
  }
  ASSERT_EQ(expected.size(), 3U);
  script.rounds.back().clear();
  EXPECT_THAT(faults_under(scripted_schedule(script, 3), {.num_elements = 6}, {.receives_ahead = true}),
              UnorderedElementsAreArray(expected));
}

TEST_F(BrokenPrograms, RanksThatWaitForEachOtherAreFound) {
  // Everybody waits for its first message before it sends its own.
  for (Rank rank = 0; rank < 3; ++rank) {
    std::vector<Step>& own = steps(rank);
    ASSERT_EQ(own[1].kind, StepKind::send);
    ASSERT_EQ(own[3].kind, StepKind::wait);
    std::swap(own[1], own[3]);
    for (Step& step : own) {
      if (step.kind == StepKind::wait && step.transfer == 1) {
        step.transfer = 3;
      }
    }
  }
  EXPECT_THAT(faults(), Contains(HasSubstr("waits for a message that never comes")));
}

TEST(RequiredProof, AWrongScheduleDoesNotRun) {
  const Algorithm& ring = *find_algorithm(Collective::all_reduce, "ring");
  const Schedule right(ring, {.num_ranks = 4});
  EXPECT_NO_THROW(require_proof(right, {.num_elements = 100}, {}));
  Script script = script_of(right);
  script.rounds.back().pop_back();
  const Schedule wrong = scripted_schedule(std::move(script), 4);
  EXPECT_THAT([&] { require_proof(wrong, {.num_elements = 100}, {}); },
              Throws<Bug>(Property(&Bug::what, HasSubstr("lacks the contribution of"))));
}

TEST(RequiredProof, WhatWouldTakeLongIsNotProvedAgain) {
  Script script = script_of(Schedule(*find_algorithm(Collective::all_reduce, "ring"), {.num_ranks = 64}));
  script.rounds.clear();
  EXPECT_NO_THROW(require_proof(scripted_schedule(std::move(script), 64), {.num_elements = 6400}, {}));
}

}  // namespace
}  // namespace ringside
