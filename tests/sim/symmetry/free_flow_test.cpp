// Where no flow can hold another back, the replay must be the simulation with contention; and the replay of
// circles must be the replay.

#include "sim/symmetry/free_flow.hpp"

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/numbers.hpp"
#include "results/prediction.hpp"
#include "schedule/registry.hpp"
#include "schedule/schedule.hpp"
#include "sim/engine/flow.hpp"
#include "sim/engine/flow_prediction.hpp"
#include "sim/engine/replay.hpp"
#include "sim/symmetry/check.hpp"
#include "sim/symmetry/partition.hpp"
#include "sim/symmetry/symmetric_flow.hpp"
#include "tests/sim/engine/networks.hpp"
#include "tests/sim/symmetry/trees.hpp"

namespace ringside {

namespace {

constexpr double kTolerance = 1e-9;
constexpr std::int64_t kFloat = 4;

std::optional<Execution> execution_of(const Algorithm& algorithm, const Network& network,
                                      std::int64_t elements) {
  const ScheduleRequest request = request_for(algorithm.collective, network.num_ranks,
                                              {.ranks_per_node = network.ranks_per_node, .order = {}});
  if (algorithm.unsupported != nullptr && algorithm.unsupported(request)) {
    return std::nullopt;
  }
  return Execution(Schedule(algorithm, request), {elements * kFloat}, DataType::float32);
}

Execution all_reduce(const char* algorithm, const Network& network, std::int64_t elements) {
  return *execution_of(known_algorithm(Collective::all_reduce, algorithm), network, elements);
}

TEST(FreeFlow, IsTheSimulationWithContentionOnAnyTree) {
  std::mt19937 random(7);
  int free = 0;
  int shared = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const Network network = test::any_tree(random, 20);
    for (const Algorithm& algorithm : all_algorithms()) {
      const std::optional<Execution> execution = execution_of(algorithm, network, 1'000 + trial);
      if (!execution) {
        continue;
      }
      if (!links_of_free_flow(*execution, network)) {
        ++shared;
        continue;
      }
      ++free;
      const double all = simulate_flow(*execution, network).seconds.value;
      ASSERT_NEAR(replay(*execution, network).value, all, kTolerance * all)
          << algorithm.name << ", trial " << trial;
    }
  }
  EXPECT_GT(free, 500);
  EXPECT_GT(shared, 500);
}

TEST(FreeFlow, ALinkThatEachFlowCrossesTwiceLetsThroughHalf) {
  // Four flows of at most half of the memory's rate cannot fill a bus of 2.2 times that rate.
  const std::vector<std::int32_t> way = {0, 0, 1};
  const Network network =
      test::wired({{.name = "memory", .latency = {1e-6}, .capacity = {1e9}},
                   {.name = "bus", .latency = {1e-6}, .capacity = {2.2e9}}},
                  {{{}, way, way, way}, {way, {}, way, way}, {way, way, {}, way}, {way, way, way, {}}});
  const Execution execution = all_reduce("halving_doubling", network, 100'000);
  const auto found = simulate_symmetric(execution, network, {.most_classes = 2});
  ASSERT_TRUE(std::holds_alternative<SymmetricFlow>(found));
  const auto& flow = std::get<SymmetricFlow>(found);
  EXPECT_NEAR(flow.seconds.value, simulate_flow(execution, network).seconds.value, 1e-12);
  EXPECT_EQ(flow.partition.stages.front().link_class, (std::vector<std::int32_t>{0, kNoClass}));
  EXPECT_EQ(check_partition(execution, network, flow.partition), std::vector<std::string>());
}

TEST(FreeFlow, OneNicForTwoRanksIsShared) {
  test::TreeShape shape = {.num_ranks = 16, .ranks_per_node = 4, .nics_per_node = 4};
  EXPECT_TRUE(links_of_free_flow(all_reduce("hierarchical", test::tree_network(shape), 1'000),
                                 test::tree_network(shape)));
  shape.nics_per_node = 2;
  EXPECT_FALSE(links_of_free_flow(all_reduce("hierarchical", test::tree_network(shape), 1'000),
                                  test::tree_network(shape)));
}

TEST(FreeFlow, AnUplinkHasRoomForAsManyAsFitIntoIt) {
  test::TreeShape shape = {.num_ranks = 32, .ranks_per_node = 4, .nics_per_node = 4, .nodes_per_pod = 4};
  for (const double flows : {3.9, 4.0}) {
    shape.uplink = flows * shape.nic;
    const Network network = test::tree_network(shape);
    EXPECT_EQ(links_of_free_flow(all_reduce("hierarchical", network, 1'000), network).has_value(),
              flows == 4.0);
  }
}

TEST(LinkFlows, FollowOneAnotherWhereOneRankSendsOrReceivesThemAll) {
  const auto follow = [](const std::vector<std::pair<Move, std::int32_t>>& flows) {
    LinkFlows link;
    for (const auto& [move, round] : flows) {
      link.add(move, round);
    }
    return link.follow_one_another();
  };
  const auto from = [](Rank source, Rank target) { return Move{.source = source, .target = target}; };
  EXPECT_TRUE(follow({}));
  EXPECT_TRUE(follow({{from(1, 2), 0}, {from(1, 3), 1}, {from(1, 2), 3}})) << "all from rank 1";
  EXPECT_TRUE(follow({{from(1, 2), 0}, {from(3, 2), 1}, {from(1, 2), 3}})) << "all to rank 2";
  EXPECT_FALSE(follow({{from(1, 2), 0}, {from(1, 3), 1}, {from(2, 3), 2}}));
  EXPECT_FALSE(follow({{from(1, 2), 0}, {from(3, 2), 1}, {from(3, 4), 2}}));
  EXPECT_FALSE(follow({{from(1, 2), 0}, {from(1, 3), 0}})) << "two in one round";
  EXPECT_FALSE(follow({{from(1, 2), 1}, {from(1, 2), 2}, {from(1, 2), 2}}));
}

TEST(FreeFlow, ChunksWithoutElementsAreNotLookedAt) {
  const Network network = test::tree_network({.num_ranks = 16});
  EXPECT_FALSE(links_of_free_flow(all_reduce("ring", network, 15), network));
  EXPECT_FALSE(replay_circles(all_reduce("ring", network, 15), network));
}

TEST(CircleReplay, IsTheReplayOnAnyTree) {
  std::mt19937 random(11);
  int around = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const Network network = test::any_tree(random, 24);
    for (const Algorithm& algorithm : all_algorithms()) {
      const std::optional<Execution> execution = execution_of(algorithm, network, 1'000 + 7 * trial);
      const std::optional<Seconds> found = execution ? replay_circles(*execution, network) : std::nullopt;
      if (found) {
        ++around;
        const double expected = replay(*execution, network).value;
        ASSERT_NEAR(found->value, expected, 1e-12 * expected) << algorithm.name << ", trial " << trial;
      }
    }
  }
  EXPECT_GT(around, 500);
}

TEST(CircleReplay, TakesRingsAndLeavesTreesAndPipelines) {
  const Network network = test::tree_network({.num_ranks = 16}, 1e-11);
  for (const char* algorithm : {"ring", "hierarchical"}) {
    EXPECT_TRUE(replay_circles(all_reduce(algorithm, network, 1'000), network)) << algorithm;
  }
  for (const char* algorithm : {"binomial_tree", "pipelined_ring", "tutorial_ring"}) {
    EXPECT_FALSE(replay_circles(all_reduce(algorithm, network, 1'000), network)) << algorithm;
  }
}

TEST(CircleReplay, IsTheReplayOnCirclesLongerThanWhatIsLookedAtOnce) {
  for (const int ranks : {255, 256, 257, 512, 600}) {
    const Network network = test::tree_network({.num_ranks = ranks}, 1e-11);
    const Execution execution = all_reduce("ring", network, 100'003);
    const std::optional<Seconds> found = replay_circles(execution, network);
    ASSERT_TRUE(found) << ranks;
    const double expected = replay(execution, network).value;
    EXPECT_NEAR(found->value, expected, 1e-12 * expected) << ranks;
  }
}

TEST(FreeFlow, PredictsALongRingWhoseRanksAreAllDifferent) {
  const Network network = test::tree_network({.num_ranks = 264}, 1e-12);
  for (const int elements : {1'000'000, 264 * 4'000}) {
    const Execution execution = all_reduce("ring", network, elements);
    Prediction prediction;
    predict_flow(execution, network, {}, prediction);
    const FlowResult all = simulate_flow(execution, network);
    EXPECT_NEAR(prediction.seconds.value, all.seconds.value, kTolerance * all.seconds.value);
    EXPECT_FALSE(prediction.no_classes) << "nobody has to be told that classes were not needed";
    ASSERT_EQ(prediction.nics.has_value(), all.nics.has_value());
    EXPECT_EQ(prediction.limits.size(), all.limits.size());
  }
}

}  // namespace

}  // namespace ringside
