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

// Two sockets, peer to peer, no switches. Each hop crosses 2 slots, 6 hops one bridge, 2 two bridges and
// the socket link: 16 + 6 + 2·3 = 28. Left-right-left-right, all 8 hops cross sockets: 16 + 8·3 = 40.
TEST(RingOrder, CountsCrossings) {
  Machine machine = test::pcie_machine();
  machine.intra->sockets = 2;
  const Network network = build_network(machine, 8);
  const RingCost good = ring_cost(*network.topology, identity(8));
  const RingCost bad = ring_cost(*network.topology, std::vector<Rank>{0, 4, 1, 5, 2, 6, 3, 7});
  EXPECT_EQ(good.num_crossings, 28);
  EXPECT_EQ(bad.num_crossings, 40);
  EXPECT_LT(good, bad);
  // Four flows share each direction between the sockets, 20 GB/s.
  EXPECT_NEAR(bad.inverse_bandwidth, 4 / 20e9, 1e-15);
  EXPECT_NEAR(good.inverse_bandwidth, 1 / 20e9, 1e-15);
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
  const RingCost chosen = ring_cost(*network.topology, network.order);
  const RingCost listed = ring_cost(*network.topology, identity(32));
  // As listed, every cable between switches carries four flows one way (the hops s → s+1), and the four flows
  // back from switch 7 to switch 0 the other way. One flow each way is what a ring cannot do without.
  EXPECT_NEAR(listed.inverse_bandwidth, 4 / 10e9, 1e-15);
  EXPECT_NEAR(chosen.inverse_bandwidth, 1 / 10e9, 1e-15);
  std::vector<Rank> sorted = network.order;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, identity(32));
}

TEST(RingOrder, OfTwoRanksIsWhatThereIs) {
  const Network network = build_network(test::pcie_machine(), 2);
  EXPECT_EQ(choose_ring_order(*network.topology, 2), identity(2));
  EXPECT_EQ(choose_ring_order(*network.topology, 1), identity(1));
}

}  // namespace
}  // namespace ringside
