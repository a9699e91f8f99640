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

/// Where what arrives may be reduced, when these steps are between the wait for it and its reduction.
std::vector<std::int32_t> found_with(const std::vector<Step>& between, bool sent_before = false) {
  const Region target = {.buffer = 0, .offset = 0, .bytes = 32};
  const Region staging = {.buffer = 1, .offset = 0, .bytes = 32};
  Program program = {.num_ranks = 2, .buffer_bytes = {96, 64}};
  const std::int32_t receive = program.add({.kind = StepKind::receive, .peer = 1, .target = staging});
  if (sent_before) {
    program.add({.kind = StepKind::send, .peer = 1, .source = {.buffer = 0, .offset = 24, .bytes = 16}});
  }
  program.add({.kind = StepKind::wait, .transfer = receive});
  for (const Step& step : between) {
    program.add(step);
  }
  program.add({.kind = StepKind::reduce, .peer = 1, .source = staging, .target = target});
  return reductions_on_arrival(program, [](const Region&) { return false; });
}

TEST(ReductionsOnArrival, WhatAnotherStepReadsOrWritesMeanwhileStaysAsItWas) {
  const Region first = {.buffer = 0, .offset = 0, .bytes = 32};
  const Region overlapping = {.buffer = 0, .offset = 31, .bytes = 32};
  const Region second = {.buffer = 0, .offset = 32, .bytes = 32};
  const Region third = {.buffer = 0, .offset = 64, .bytes = 32};
  const auto copy = [](const Region& source, const Region& target) {
    return Step{.kind = StepKind::copy, .source = source, .target = target};
  };
  using Found = std::vector<std::int32_t>;
  EXPECT_EQ(found_with({}), (Found{2, kNotOnArrival, kNotOnArrival}));
  EXPECT_EQ(found_with({copy(second, third)}), (Found{3, kNotOnArrival, kNotOnArrival, kNotOnArrival}));
  for (const Step& step :
       {copy(first, second), copy(second, first), copy(overlapping, third), copy(third, overlapping)}) {
    EXPECT_EQ(found_with({step}), Found(4, kNotOnArrival));
    EXPECT_EQ(found_with({copy(second, third), step}), Found(5, kNotOnArrival));
  }
  EXPECT_EQ(found_with({}, true), Found(4, kNotOnArrival)) << "it is being sent";
}

TEST(ReductionsOnArrival, OnlyWhatArrivesToBeReducedIs) {
  const Region first = {.buffer = 0, .offset = 0, .bytes = 32};
  const Region staging = {.buffer = 1, .offset = 0, .bytes = 32};
  Program program = {.num_ranks = 2, .buffer_bytes = {64, 64}};
  const std::int32_t receive = program.add({.kind = StepKind::receive, .peer = 1, .target = first});
  program.add({.kind = StepKind::wait, .transfer = receive});
  program.add({.kind = StepKind::reduce, .peer = 1, .source = first, .target = {.offset = 32, .bytes = 32}});
  EXPECT_EQ(on_arrival(program), 0) << "it has its place in the message";
  program.steps[0].target = staging;
  EXPECT_EQ(on_arrival(program), 0) << "nobody reduces it";
}

}  // namespace
}  // namespace ringside
