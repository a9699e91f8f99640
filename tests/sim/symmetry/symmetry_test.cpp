// The simulation of classes must give what the simulation of all ranks does, on any machine, and the checker
// must see through any partition that is not equitable.

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/numbers.hpp"
#include "schedule/registry.hpp"
#include "schedule/schedule.hpp"
#include "sim/engine/flow.hpp"
#include "sim/symmetry/check.hpp"
#include "sim/symmetry/symmetric_flow.hpp"
#include "sim/topology/network.hpp"
#include "tests/sim/engine/networks.hpp"
#include "tests/sim/symmetry/trees.hpp"

namespace ringside {
namespace {

constexpr double kTolerance = 1e-9;
/// Whatever it costs, and however little there is to gain.
constexpr SymmetryOptions kAlways{.most_events = 1'000'000'000, .most_classes = 2};

std::optional<Schedule> schedule_on(const Network& network, const Algorithm& algorithm,
                                    std::vector<Rank> order = {}) {
  ScheduleRequest request =
      request_for(algorithm.collective, network.num_ranks,
                  {.ranks_per_node = network.ranks_per_node, .order = std::move(order)});
  if (algorithm.unsupported != nullptr && algorithm.unsupported(request)) {
    return std::nullopt;
  }
  return Schedule(algorithm, request);
}

std::vector<Rank> shuffled(int num_ranks, std::mt19937& random) {
  std::vector<Rank> order(at(num_ranks));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

/// Expects that both simulations agree; false where there is no partition.
bool agrees(const Execution& execution, const Network& network, const std::string& what,
            KnownPartition* known = nullptr) {
  SymmetryOptions options = kAlways;
  options.known = known;
  const auto found = simulate_symmetric(execution, network, options);
  const auto* flow = std::get_if<SymmetricFlow>(&found);
  if (flow == nullptr) {
    return false;
  }
  const FlowResult full = simulate_flow(execution, network);
  EXPECT_NEAR(flow->seconds.value, full.seconds.value, kTolerance * full.seconds.value) << what;
  EXPECT_EQ(flow->num_messages, static_cast<double>(full.num_messages)) << what;
  return true;
}

TEST(Symmetry, EqualsTheFullSimulationOnAnyTree) {
  const auto algorithms = all_algorithms();
  std::mt19937 random(41);
  int compared = 0;
  int refused = 0;
  KnownPartition known;  // One for all trials: it must tell them apart.
  for (int trial = 0; trial < 400; ++trial) {
    const Network network = test::any_tree(random, trial % 10 == 0 ? 48 : 20);
    for (std::size_t i = 0; i < 4; ++i) {
      const Algorithm& algorithm = algorithms[(at(trial) * 4 + i) % algorithms.size()];
      const bool shuffle = random() % 4 == 0 && !scattered(algorithm.collective);
      const auto schedule = schedule_on(network, algorithm,
                                        shuffle ? shuffled(network.num_ranks, random) : std::vector<Rank>{});
      if (!schedule) {
        continue;
      }
      const std::int64_t parts = 1 + static_cast<std::int64_t>(random() % 1000);
      const std::int64_t rest = random() % 3 == 0 ? 1 : 0;
      const Execution execution(*schedule, {4 * (parts * schedule->num_chunks() + rest)}, DataType::float32);
      const std::string what = fmt::format("trial {}: {} {} on {} ranks", trial, name(algorithm.collective),
                                           algorithm.name, network.num_ranks);
      ++(agrees(execution, network, what, &known) ? compared : refused);
    }
  }
  EXPECT_GT(compared, 1200) << refused << " had no partition";
}

SymmetricFlow flow_of(const Execution& execution, const Network& network) {
  auto found = simulate_symmetric(execution, network, kAlways);
  EXPECT_TRUE(std::holds_alternative<SymmetricFlow>(found));
  return std::get<SymmetricFlow>(std::move(found));
}

Execution all_reduce(const char* algorithm, const Network& network, std::int64_t elements_per_chunk) {
  const Schedule schedule = *schedule_on(network, *find_algorithm(Collective::all_reduce, algorithm));
  return Execution(schedule, {4 * elements_per_chunk * schedule.num_chunks()}, DataType::float32);
}

constexpr test::TreeShape kSixteenNodes{
    .num_ranks = 128, .nodes_per_pod = 4, .uplink = 8e10, .uplink_latency = 0};

TEST(Symmetry, RanksThatDoTheSameAreOneClass) {
  const Network network = test::tree_network(kSixteenNodes);
  // A ring is the same at every node, its eight ranks at different distances from the links between.
  EXPECT_EQ(flow_of(all_reduce("ring", network, 100), network).rank_classes, 8);
  EXPECT_EQ(flow_of(all_reduce("halving_doubling", network, 100), network).rank_classes, 1);
  EXPECT_LE(flow_of(all_reduce("hierarchical", network, 100), network).rank_classes, 32);
}

TEST(Symmetry, APartitionOfAnotherNetworkIsTriedFirstAndStillChecked) {
  const Network network = test::tree_network(kSixteenNodes);
  test::TreeShape other_uplinks = kSixteenNodes;
  other_uplinks.uplink = 3e10;
  test::TreeShape latency_apart = kSixteenNodes;
  latency_apart.uplink_latency = 1e-6;  // Hops between pods are no longer like those inside.
  for (const char* algorithm : {"ring", "halving_doubling", "hierarchical", "binomial_tree"}) {
    const Execution execution = all_reduce(algorithm, network, 1'000);
    KnownPartition known;
    EXPECT_TRUE(agrees(execution, network, algorithm, &known));
    const auto proposed = with_numbers_of(known.partition, execution, test::tree_network(other_uplinks));
    ASSERT_TRUE(proposed);
    EXPECT_TRUE(check_partition(execution, test::tree_network(other_uplinks), *proposed).empty())
        << algorithm;
    EXPECT_TRUE(agrees(execution, test::tree_network(other_uplinks), algorithm, &known));
    EXPECT_TRUE(agrees(execution, test::tree_network(latency_apart), algorithm, &known));
    // For another execution it is no use, and does no harm.
    const Execution other = all_reduce("recursive_doubling", network, 999);
    EXPECT_TRUE(agrees(other, network, algorithm, &known));
  }
}

TEST(Symmetry, RepeatedRoundsAreSimulatedUntilTheirStateComesAgain) {
  const Network network = test::tree_network(kSixteenNodes, 4e-11);
  for (const char* algorithm :
       {"ring", "hierarchical", "pipelined_ring", "circulating_ring", "tutorial_ring"}) {
    const Execution execution = all_reduce(algorithm, network, 1'000);
    const SymmetricFlow flow = flow_of(execution, network);
    const FlowResult full = simulate_flow(execution, network);
    EXPECT_NEAR(flow.seconds.value, full.seconds.value, kTolerance * full.seconds.value) << algorithm;
    EXPECT_LT(static_cast<double>(flow.events), flow.num_messages / 20) << algorithm;
  }
}

TEST(Symmetry, GroupsOfADragonflyAreAlike) {
  Machine machine;
  machine.name = "dragonfly";
  machine.nodes = 16;
  machine.gpus_per_node = 4;
  machine.intra = IntraLink{};
  machine.intra->kind = IntraKind::custom;
  machine.intra->latency = Seconds{1e-6};
  machine.intra->bandwidth = BytesPerSecond{1e11};
  machine.inter = InterLink{};
  machine.inter->latency = Seconds{2e-6};
  machine.inter->bandwidth = BytesPerSecond{1e10};
  machine.inter->nics = 4;
  machine.inter->levels = {{.nodes = 4, .oversubscription = 2, .pairwise = true}};
  const Network network = build_network(machine, 64);
  for (const char* algorithm : {"ring", "halving_doubling", "binomial_tree", "hierarchical", "direct"}) {
    const Execution execution = all_reduce(algorithm, network, 64'000);
    EXPECT_TRUE(agrees(execution, network, algorithm)) << algorithm;
    EXPECT_LE(flow_of(execution, network).rank_classes, 32) << algorithm;
  }
}

TEST(Symmetry, OneSlowLinkSplitsClassesAndIsStillExact) {
  test::TreeShape shape = kSixteenNodes;
  shape.num_ranks = 32;
  for (std::size_t slow = 0; slow < 2U * (32 + 32 + 1); slow += 7) {
    Network network = test::tree_network(shape, 1e-11);
    auto tree = std::make_unique<test::Tree>(shape);
    tree->link(slow).capacity.value /= 5;
    network.topology = std::move(tree);
    for (const char* algorithm : {"ring", "halving_doubling", "binomial_tree", "hierarchical"}) {
      EXPECT_TRUE(agrees(all_reduce(algorithm, network, 10'000), network,
                         fmt::format("{}, link {}", algorithm, slow)));
    }
  }
}

TEST(Symmetry, TheBusiestLinksAreThoseOfTheFullSimulation) {
  const Network network =
      test::tree_network({.num_ranks = 128, .nics_per_node = 1, .uplink = 8e10, .uplink_latency = 0});
  const Execution execution = all_reduce("halving_doubling", network, 1'000);
  const std::vector<LinkUse> links = flow_of(execution, network).links;
  EXPECT_TRUE(std::ranges::all_of(links, &LinkUse::carried));
  const std::vector<Limit> limits = limits_of(network, links);
  const FlowResult full = simulate_flow(execution, network);
  ASSERT_FALSE(limits.empty());
  ASSERT_EQ(limits.size(), full.limits.size());
  for (std::size_t i = 0; i < limits.size(); ++i) {
    EXPECT_EQ(limits[i].link_kind, full.limits[i].link_kind);
    EXPECT_EQ(limits[i].flows, full.limits[i].flows);
    EXPECT_EQ(limits[i].crossings, full.limits[i].crossings);
  }
}

TEST(Symmetry, UnevenChunksOfRoundsThatRepeatAreSaidToBeInTheWay) {
  const Network network = test::tree_network({.num_ranks = 4'104});
  const Schedule schedule = *schedule_on(network, *find_algorithm(Collective::all_reduce, "ring"));
  const auto found = simulate_symmetric(Execution(schedule, {1 << 20}, DataType::float32), network);
  ASSERT_TRUE(std::holds_alternative<NoSymmetry>(found));
  EXPECT_THAT(std::get<NoSymmetry>(found).reason, testing::HasSubstr("chunks differ in length"));
}

// --- Certificates

/// Puts one member of a class into another that there is, or changes a number of a row.
void damage(Partition& partition, std::mt19937& random) {
  const auto pick = [&](std::size_t size) { return static_cast<std::size_t>(random()) % size; };
  PartitionStage& stage = partition.stages[pick(partition.stages.size())];
  const auto other = [&](std::int32_t& number, std::size_t classes) {
    number = classes > 1 ? (number + 1 + static_cast<std::int32_t>(pick(classes - 1))) %
                               static_cast<std::int32_t>(classes)
                         : static_cast<std::int32_t>(classes);
  };
  // Where no link is anybody's bottleneck there is no class of links to damage.
  const unsigned kinds = stage.links.empty() ? 10 : 12;
  switch (random() % kinds) {
    case 0:
      return other(stage.rank_class[pick(stage.rank_class.size())], stage.ranks.size());
    case 1: {
      std::vector<std::int32_t>& round = stage.move_class[pick(stage.move_class.size())];
      return other(round[pick(round.size())], stage.moves.size());
    }
    case 2:
      return other(stage.link_class[pick(stage.link_class.size())], stage.links.size());
    case 3:
      stage.ranks[pick(stage.ranks.size())].slowdown *= 2;
      return;
    case 4:
      stage.ranks[pick(stage.ranks.size())].members += 1;
      return;
    case 5:
      stage.ranks[pick(stage.ranks.size())].entry.owes.stage += 1;
      return;
    case 6:
      stage.moves[pick(stage.moves.size())].bytes += 4;
      return;
    case 7:
      stage.moves[pick(stage.moves.size())].latency *= 1 + 1e-15 * 4;
      stage.moves[0].source.moves += 1;
      return;
    case 8:
      stage.moves[pick(stage.moves.size())].target.moves += 1;
      return;
    case 9:
      stage.moves[pick(stage.moves.size())].crossings.push_back({});
      return;
    case 10:
      stage.links[pick(stage.links.size())].capacity /= 2;
      return;
    default:
      stage.links[pick(stage.links.size())].loads.front().flows += 1;
      return;
  }
}

TEST(Certificate, OneWrongClassIsRefused) {
  std::mt19937 random(7);
  const auto algorithms = all_algorithms();
  int damaged = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const Network network = test::any_tree(random, 24);
    const auto schedule = schedule_on(network, algorithms[at(trial) % algorithms.size()]);
    if (!schedule) {
      continue;
    }
    const Execution execution(*schedule, {400LL * schedule->num_chunks()}, DataType::float32);
    const auto found = simulate_symmetric(execution, network, kAlways);
    const auto* flow = std::get_if<SymmetricFlow>(&found);
    if (flow == nullptr) {
      continue;
    }
    ASSERT_THAT(check_partition(execution, network, flow->partition), testing::IsEmpty());
    for (int times = 0; times < 5; ++times) {
      Partition wrong = flow->partition;
      damage(wrong, random);
      ++damaged;
      EXPECT_THAT(check_partition(execution, network, wrong), testing::Not(testing::IsEmpty()))
          << trial << ": " << schedule->algorithm().name << " on " << network.num_ranks;
    }
  }
  EXPECT_GT(damaged, 1000);
}

TEST(Certificate, AMoveThatWaitsForOtherReductionsIsRefused) {
  const Network network = test::tree_network(kSixteenNodes, 4e-11);
  int waiting = 0;
  for (const char* algorithm :
       {"ring", "halving_doubling", "hierarchical", "binomial_tree", "recursive_doubling"}) {
    const Execution execution = all_reduce(algorithm, network, 1'000);
    Partition partition = flow_of(execution, network).partition;
    const auto refused = [&] { return !check_partition(execution, network, partition).empty(); };
    for (PartitionStage& stage : partition.stages) {
      for (MoveClass& move : stage.moves) {
        waiting += move.source.behind > 0 || move.target.behind > 0 || move.source.holds ? 1 : 0;
        for (std::int32_t* behind : {&move.source.behind, &move.target.behind}) {
          const std::int32_t right = std::exchange(*behind, *behind == 0 ? 1 : 0);
          EXPECT_TRUE(refused()) << algorithm;
          *behind = right;
        }
        move.source.holds = !move.source.holds;
        EXPECT_TRUE(refused()) << algorithm;
        move.source.holds = !move.source.holds;
      }
    }
    EXPECT_FALSE(refused()) << algorithm;
  }
  EXPECT_GT(waiting, 10);
}

TEST(Certificate, ALinkThatHoldsFlowsBackNeedsAClass) {
  const Network network = test::tree_network(kSixteenNodes);
  const Execution execution = all_reduce("halving_doubling", network, 1'000);
  Partition partition = flow_of(execution, network).partition;
  int shared = 0;
  for (PartitionStage& stage : partition.stages) {
    if (stage.links.empty()) {
      continue;
    }
    ++shared;
    const PartitionStage right = stage;
    stage.links.clear();
    std::ranges::fill(stage.link_class, kNoClass);
    for (MoveClass& move : stage.moves) {
      move.crossings.clear();
    }
    for (const bool free_flow : {false, true}) {
      stage.free_flow = free_flow;
      EXPECT_THAT(check_partition(execution, network, partition),
                  testing::Contains(testing::HasSubstr("can hold flows back, and has no class")))
          << free_flow;
    }
    stage = right;
  }
  EXPECT_GT(shared, 0);
  EXPECT_THAT(check_partition(execution, network, partition), testing::IsEmpty());
}

TEST(Certificate, NumbersOfNoClassAreRefused) {
  const Network network = test::tree_network(kSixteenNodes);
  const Execution execution = all_reduce("halving_doubling", network, 1'000);
  const Partition right = flow_of(execution, network).partition;
  const auto expect_refused = [&](auto change) {
    Partition wrong = right;
    change(wrong.stages.front());
    EXPECT_THAT(check_partition(execution, network, wrong),
                testing::Contains(testing::HasSubstr("are not numbers of its classes")));
  };
  for (const std::int32_t number : {-3, -2, 1'000'000}) {
    expect_refused([&](PartitionStage& stage) { stage.rank_class.back() = number; });
    expect_refused([&](PartitionStage& stage) { stage.link_class.back() = number; });
    expect_refused([&](PartitionStage& stage) { stage.move_class.back().back() = number; });
    expect_refused([&](PartitionStage& stage) { stage.moves.back().source.rank_class = number; });
    expect_refused([&](PartitionStage& stage) { stage.moves.back().target.rank_class = number; });
    expect_refused([&](PartitionStage& stage) { stage.moves.back().crossings = {{.link_class = number}}; });
  }
  expect_refused([](PartitionStage& stage) { stage.rank_class.pop_back(); });
  expect_refused([](PartitionStage& stage) { stage.link_class.pop_back(); });
  expect_refused([](PartitionStage& stage) { stage.move_class.pop_back(); });
}

TEST(Certificate, RoundsThatAreLeftOutOrToldToRepeatAreRefused) {
  const Network network = test::tree_network(kSixteenNodes);
  const Execution execution = all_reduce("ring", network, 100);
  const Partition right = flow_of(execution, network).partition;
  const auto refused = [&](auto change) {
    Partition wrong = right;
    change(wrong.stages.front().lines);
    return !check_partition(execution, network, wrong).empty();
  };
  EXPECT_TRUE(refused([](auto& lines) { --lines.back().times; }));
  EXPECT_TRUE(refused([](auto& lines) { ++lines.front().times; }));
  EXPECT_TRUE(refused([](auto& lines) { lines.front().first = 1; }));
  Partition cut = right;
  cut.stages.back().lines.pop_back();
  EXPECT_THAT(check_partition(execution, network, cut),
              testing::Contains(testing::HasSubstr("are left out")));
  cut.stages.clear();
  EXPECT_THAT(check_partition(execution, network, cut),
              testing::Contains(testing::HasSubstr("rounds from 0 on are left out")));
  // Halving and doubling have no round that comes twice.
  const Execution halving = all_reduce("halving_doubling", network, 100);
  Partition wrong = flow_of(halving, network).partition;
  wrong.stages.resize(1);
  wrong.stages.front().lines = {{.first = 0, .times = halving.num_rounds()}};
  EXPECT_THAT(check_partition(halving, network, wrong), testing::Not(testing::IsEmpty()));
}

}  // namespace
}  // namespace ringside
