#include "real/execute/reductions_on_arrival.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "schedule/registry.hpp"
#include "schedule/schedule.hpp"

namespace ringside {
namespace {

constexpr int kRanks = 4;
constexpr Vector kVector = {.num_elements = 4096};

Program program_of(std::string_view algorithm, Rank rank,
                   const ExecutionPolicy& policy = {.receives_ahead = true}) {
  const Schedule schedule(known_algorithm(Collective::all_reduce, algorithm), {.num_ranks = kRanks});
  return compile(schedule, kVector, rank, policy);
}

int on_arrival(const Program& program, bool leaves_at_once = false) {
  const auto found = reductions_on_arrival(program, [=](const Region&) { return leaves_at_once; });
  return static_cast<int>(
      std::count_if(found.begin(), found.end(), [](std::int32_t step) { return step != kNotOnArrival; }));
}

int reductions(const Program& program) {
  return static_cast<int>(std::count_if(program.steps.begin(), program.steps.end(),
                                        [](const Step& step) { return step.kind == StepKind::reduce; }));
}

TEST(ReductionsOnArrival, ARingReducesWhatArrives) {
  const Program program = program_of("ring", 1);
  EXPECT_EQ(reductions(program), kRanks - 1);
  EXPECT_EQ(on_arrival(program), kRanks - 1);
}

TEST(ReductionsOnArrival, DirectTwoShotReducesWhatArrives) {
  const Program program = program_of("direct_two_shot", 2);
  EXPECT_EQ(on_arrival(program), reductions(program));
}

TEST(ReductionsOnArrival, WhatIsSentInTheSameRoundIsNotChangedEarly) {
  const Program program = program_of("recursive_doubling", 0);
  EXPECT_EQ(reductions(program), 2);
  EXPECT_EQ(on_arrival(program), 0) << "the own message is still being read when the other's arrives";
  EXPECT_EQ(on_arrival(program, true), 2) << "the own message has left";
}

TEST(ReductionsOnArrival, SegmentsAreReducedOnArrivalWhileOthersTravel) {
  const Program program =
      program_of("ring", 0, {.receives_ahead = true, .segments = 4, .stride = 2, .in_flight = 2});
  EXPECT_GE(2 * on_arrival(program), reductions(program));
}

/// Two ranks that each wait for their send before they take what the other sends would wait for ever.
TEST(ReductionsOnArrival, NobodyWaitsInACircle) {
  Program program = {.num_ranks = 2, .buffer_bytes = {64, 64}};
  const Region own = {.buffer = 0, .offset = 0, .bytes = 32};
  const Region other = {.buffer = 0, .offset = 32, .bytes = 32};
  const Region staging = {.buffer = 1, .offset = 0, .bytes = 32};
  const std::int32_t receive = program.add({.kind = StepKind::receive, .peer = 1, .target = staging});
  const std::int32_t send = program.add({.kind = StepKind::send, .peer = 1, .source = own});
  program.add({.kind = StepKind::wait, .transfer = send});
  program.add({.kind = StepKind::wait, .transfer = receive});
  program.add({.kind = StepKind::reduce, .peer = 1, .source = staging, .target = other});
  EXPECT_EQ(on_arrival(program), 0);
  std::swap(program.steps[2], program.steps[3]);
  EXPECT_EQ(on_arrival(program), 1);
}

TEST(ReductionsOnArrival, WhatAnotherStepReadsMeanwhileStaysAsItWas) {
  Program program = {.num_ranks = 2, .buffer_bytes = {64, 64}};
  const Region target = {.buffer = 0, .offset = 0, .bytes = 32};
  const Region copy = {.buffer = 0, .offset = 32, .bytes = 32};
  const Region staging = {.buffer = 1, .offset = 0, .bytes = 32};
  const std::int32_t receive = program.add({.kind = StepKind::receive, .peer = 1, .target = staging});
  program.add({.kind = StepKind::wait, .transfer = receive});
  program.add({.kind = StepKind::copy, .source = target, .target = copy});
  program.add({.kind = StepKind::reduce, .peer = 1, .source = staging, .target = target});
  EXPECT_EQ(on_arrival(program), 0);
}

}  // namespace
}  // namespace ringside
