#include <algorithm>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/topology/ring_order.hpp"
#include "tests/sim/topology/machines.hpp"

namespace ringside {
namespace {

std::vector<Rank> identity(int num_ranks) {
  std::vector<Rank> order(static_cast<std::size_t>(num_ranks));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

/// Hops of a ring over each link.
std::vector<int> crossings_of(const Topology& topology, const std::vector<Rank>& order) {
  std::vector<int> crossings(topology.links().size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::vector<std::int32_t> route;
    topology.route(order[i], order[(i + 1) % order.size()], route);
    for (const std::int32_t link : route) {
      ++crossings[static_cast<std::size_t>(link)];
    }
  }
  return crossings;
}

/// Seconds per byte of the hop that gets least.
double slowest(const Topology& topology, const std::vector<Rank>& order) {
  const std::vector<int> crossings = crossings_of(topology, order);
  double slowest = 0;
  for (std::size_t i = 0; i < crossings.size(); ++i) {
    slowest = std::max(slowest, crossings[i] / topology.links()[i].capacity.value);
  }
  return slowest;
}

// Two sockets, peer to peer, no switches. Each hop crosses 2 slots, 6 hops one bridge, 2 two bridges and
// the socket link: 16 + 6 + 2·3 = 28. Left-right-left-right, all 8 hops cross sockets: 16 + 8·3 = 40.
TEST(RingOrder, DecidesHowManyLinksOfAPcieTreeAreCrossed) {
  Machine machine = test::pcie_machine();
  machine.intra->sockets = 2;
  const Network network = build_network(machine, 8);
  const std::vector<Rank> bad = {0, 4, 1, 5, 2, 6, 3, 7};
  const auto links_crossed = [&](const std::vector<Rank>& order) {
    const std::vector<int> crossings = crossings_of(*network.topology, order);
    return std::accumulate(crossings.begin(), crossings.end(), 0);
  };
  EXPECT_EQ(links_crossed(identity(8)), 28);
  EXPECT_EQ(links_crossed(bad), 40);
  // Four flows share each direction between the sockets, 20 GB/s.
  EXPECT_NEAR(slowest(*network.topology, bad), 4 / 20e9, 1e-15);
  EXPECT_NEAR(slowest(*network.topology, identity(8)), 1 / 20e9, 1e-15);
}

TEST(RingOrder, OfAPcieTreeIsTheNumbersOfItsGpusWhateverElseIsTried) {
  for (const bool peer_to_peer : {true, false}) {
    for (const int sockets : {1, 2}) {
      Machine machine = test::pcie_machine();
      machine.intra->peer_to_peer = peer_to_peer;
      machine.intra->sockets = sockets;
      machine.intra->gpus_per_switch = 2;
      const Network network = build_network(machine, 8);
      EXPECT_EQ(choose_ring_order(*network.topology, 8), identity(8)) << peer_to_peer << " " << sockets;
    }
  }
}

TEST(RingOrder, OfManyRanksIsImprovedUntilNothingMoreIsFound) {
  // Eight switches in a row of four ranks each, ranks dealt out one by one.
  Machine machine{.name = "dealt out"};
  const auto at = [](int number) { return "switch " + std::to_string(number); };
  for (int rank = 0; rank < 32; ++rank) {
    machine.links.push_back(
        {.from = "rank " + std::to_string(rank), .to = at(rank % 8), .latency = {1e-6}, .bandwidth = {10e9}});
  }
  for (int number = 0; number < 7; ++number) {
    machine.links.push_back(
        {.from = at(number), .to = at(number + 1), .latency = {1e-6}, .bandwidth = {10e9}});
  }
  const Network network = build_network(machine, 32);
  // As listed, every cable between switches carries four flows one way (the hops s → s+1), and the four flows
  // back from switch 7 to switch 0 the other way. One flow each way is what a ring cannot do without.
  EXPECT_NEAR(slowest(*network.topology, identity(32)), 4 / 10e9, 1e-15);
  EXPECT_NEAR(slowest(*network.topology, network.order), 1 / 10e9, 1e-15);
  std::vector<Rank> sorted = network.order;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, identity(32));
}

TEST(RingOrder, LeavesOutTheHopOfMostLatencyWhereAllAreAsFast) {
  Machine machine{.name = "mesh"};
  for (int from = 0; from < 4; ++from) {
    for (int to = from + 1; to < 4; ++to) {
      // Between ranks 0 and 1 it takes longer, and still less than by way of another rank.
      machine.links.push_back({.from = "rank " + std::to_string(from),
                               .to = "rank " + std::to_string(to),
                               .latency = {to == 1 ? 9e-6 : 6e-6},
                               .bandwidth = {10e9}});
    }
  }
  EXPECT_EQ(build_network(machine, 4).order, (std::vector<Rank>{0, 2, 1, 3}));
}

TEST(RingOrder, OfTwoRanksIsWhatThereIs) {
  const Network network = build_network(test::pcie_machine(), 2);
  EXPECT_EQ(choose_ring_order(*network.topology, 2), identity(2));
  EXPECT_EQ(choose_ring_order(*network.topology, 1), identity(1));
}

}  // namespace
}  // namespace ringside
