#include "sim/engine/replay.hpp"

#include <gtest/gtest.h>

#include "schedule/registry.hpp"
#include "sim/engine/flow.hpp"
#include "tests/schedule/scripted.hpp"
#include "tests/sim/engine/networks.hpp"

namespace ringside {

namespace {

TEST(Replay, OneStragglerSetsThePaceOfTheWholeRing) {
  const Schedule ring(*find_algorithm(Collective::all_reduce, "ring"), {.num_ranks = 8});
  const Execution execution(ring, {8'000'000}, DataType::float32);
  Network network = test::uniform_network(8, {});
  const double even = replay(execution, network).value;
  network.slowdown.assign(8, 1.0);
  network.slowdown[3] = 2.5;
  EXPECT_NEAR(replay(execution, network).value, 2.5 * even, 1e-12);
}

TEST(Replay, MovesWithoutBytesCostNothing) {
  // One element: only the first of eight chunks is not empty; it goes around to be reduced and once more.
  const Schedule ring(*find_algorithm(Collective::all_reduce, "ring"), {.num_ranks = 8});
  const Network network = test::uniform_network(8, {});
  const Execution one(ring, {4}, DataType::float32);
  EXPECT_NEAR(replay(one, network).value, 14 * (5e-6 + 4e-10), 1e-15);
  EXPECT_EQ(simulate_flow(one, network).num_messages, 14);
  EXPECT_EQ(replay(Execution(ring, {0}, DataType::float32), network).value, 0);
}

TEST(Replay, EveryPairHasTheCostOfItsRoute) {
  // Two hops of 1 us out, 10 and 5 GB/s: the narrower counts. Back, host memory is crossed twice.
  const Network network = test::wired({{.name = "out", .latency = {1e-6}, .capacity = {1e10}},
                                       {.name = "narrow", .latency = {1e-6}, .capacity = {5e9}},
                                       {.name = "host memory", .latency = {3e-6}, .capacity = {8e9}}},
                                      {{{}, {0, 1}}, {{2, 2}, {}}});
  const Schedule naive(*find_algorithm(Collective::all_reduce, "naive"), {.num_ranks = 2});
  const Execution execution(naive, {1'000'000}, DataType::float32);
  EXPECT_NEAR(replay(execution, network).value, (2e-6 + 1e6 / 5e9) + (6e-6 + 1e6 / 4e9), 1e-15);
}

TEST(Replay, StragglersReduceSlowlyToo) {
  const Schedule ring(*find_algorithm(Collective::all_reduce, "ring"), {.num_ranks = 8});
  const Execution execution(ring, {8'000'000}, DataType::float32);
  Network network = test::private_links(8, {.reduction = 3e-10});
  const double even = replay(execution, network).value;
  network.slowdown.assign(8, 2.5);
  EXPECT_NEAR(replay(execution, network).value, 2.5 * even, 1e-12);
}

TEST(Replay, AReductionTakesItsTimeHoweverLongItIs) {
  const Schedule naive(*find_algorithm(Collective::all_reduce, "naive"), {.num_ranks = 2});
  const Execution execution(naive, {1 << 20}, DataType::float32);
  const double without = replay(execution, test::private_links(2, {})).value;
  for (const double seconds : {0.5, 1.0, 2.0}) {
    const Network network = test::private_links(2, {.reduction = seconds / (1 << 20)});
    EXPECT_NEAR(replay(execution, network).value, without + seconds, 1e-9);
  }
}

TEST(Replay, ReductionsGoByTheirArrival) {
  // One message comes after 1 us, the other after 10; reducing the first takes 1 us and is over by then.
  const Schedule two = scripted_schedule({.rounds = {{{.source = 1, .target = 0, .kind = MoveKind::reduce},
                                                      {.source = 2, .target = 0, .kind = MoveKind::reduce}}}},
                                         3);
  const Execution execution(two, {1'000}, DataType::float32);
  for (const bool first_is_late : {false, true}) {
    Network network =
        test::wired({{.name = "fast", .latency = {1e-6}, .capacity = {1e18}},
                     {.name = "slow", .latency = {1e-5}, .capacity = {1e18}}},
                    {{{}, {}, {}}, {{first_is_late ? 1 : 0}, {}, {}}, {{first_is_late ? 0 : 1}, {}, {}}});
    network.reduction.assign(3, {1e-9});
    EXPECT_NEAR(replay(execution, network).value, 1.1e-5, 1e-12) << first_is_late;
  }
}

}  // namespace

}  // namespace ringside
