#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/topology/description.hpp"
#include "tests/sim/topology/machines.hpp"

namespace ringside {
namespace {

using test::crossings;
using test::error_of;
using test::pcie_machine;
using test::ring_flows;
using test::route_names;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// PCIe 4.0 x16: 16 GT/s · 128/130 / 8 · 16 lanes.
constexpr double kSlot = 31.50768;

TEST(PcieTree, PeerToPeerCrossesTheHostBridgeOnce) {
  const Network network = build_network(pcie_machine(), 8);
  EXPECT_EQ(network.source, CostSource::spec);
  EXPECT_FALSE(network.uniform);
  EXPECT_THAT(route_names(network, 0, 5),
              ElementsAre("GPU 0 PCIe up", "host bridge of socket 0", "GPU 5 PCIe down"));
  EXPECT_NEAR(test::bandwidth_gb(network, 0, 5), 0.78 * kSlot, 1e-3);
  EXPECT_NEAR(test::latency_us(network, 0, 5), 2.0, 1e-9);
  EXPECT_EQ(crossings(network, ring_flows(network)).at("host bridge of socket 0"), 8);
}

TEST(PcieTree, AHostBridgePassesWhatItsPortsCarry) {
  const Network network = build_network(pcie_machine(), 8);
  for (const RingHop& hop : describe(network).ring) {
    EXPECT_NEAR(hop.with_ring.value / 1e9, 0.78 * kSlot, 1e-3);
  }
}

TEST(PcieTree, WithoutPeerToPeerEveryByteCrossesHostMemoryTwice) {
  Machine machine = pcie_machine();
  machine.intra->peer_to_peer = false;
  const Network network = build_network(machine, 8);
  EXPECT_THAT(route_names(network, 2, 3),
              ElementsAre("GPU 2 PCIe up", "staging of GPU 2 in host memory", "host memory of socket 0",
                          "host memory of socket 0", "staging of GPU 3 in host memory", "GPU 3 PCIe down"));
  // Slots 1 us each, host memory 6 us each time.
  EXPECT_NEAR(test::latency_us(network, 2, 3), 14.0, 1e-9);
  // Alone the slot limits (0.62 of 31.5 = 19.5 GB/s), not a card's staging (0.7) or half host memory (82
  // GB/s).
  EXPECT_NEAR(test::bandwidth_gb(network, 2, 3), 0.62 * kSlot, 1e-3);
  EXPECT_EQ(crossings(network, ring_flows(network)).at("host memory of socket 0"), 16);
  // 164 GB/s over 16 crossings are less than half of what a card stages (0.7 · 31.5 / 2 = 11 GB/s).
  EXPECT_NEAR(describe(network).ring.at(0).with_ring.value / 1e9, 164.0 / 16, 1e-3);
}

/// How many links of a kind an eight-GPU node has.
std::ptrdiff_t links_of(const Machine& machine, LinkKind kind) {
  const Network network = build_network(machine, 8 * machine.nodes);
  return std::ranges::count(network.topology->links(), kind, &Link::kind);
}

TEST(PcieTree, ASocketHasTheHostBridgeAndTheMemoryThatAreCrossed) {
  Machine machine = pcie_machine();
  EXPECT_EQ(links_of(machine, LinkKind::host_bridge), 1);
  EXPECT_EQ(links_of(machine, LinkKind::host_memory), 0);
  machine.intra->peer_to_peer = false;
  EXPECT_EQ(links_of(machine, LinkKind::host_bridge), 0);
  EXPECT_EQ(links_of(machine, LinkKind::host_memory), 1);
  machine.inter = InterLink{.kind = InterKind::infiniband, .rate = BytesPerSecond{25e9}, .nics = 1};
  machine.inter->gpudirect = true;
  EXPECT_EQ(links_of(machine, LinkKind::host_bridge), 0) << "one node uses no NIC";
  // NICs read GPUs directly where GPUs do not read one another.
  machine.nodes = 2;
  EXPECT_EQ(links_of(machine, LinkKind::host_bridge), 2);
  EXPECT_EQ(links_of(machine, LinkKind::host_memory), 2);
  // Over NVLink only NICs use the sockets.
  machine = test::two_node_machine(1);
  EXPECT_EQ(links_of(machine, LinkKind::host_memory), 0);
  const std::ptrdiff_t bridges = links_of(machine, LinkKind::host_bridge);
  EXPECT_GT(bridges, 0);
  machine.inter->gpudirect = false;
  EXPECT_EQ(links_of(machine, LinkKind::host_memory), bridges);
  EXPECT_EQ(links_of(machine, LinkKind::host_bridge), 0);
}

TEST(PcieTree, AMeasuredSlotIsThatFastPeerToPeer) {
  Machine machine = pcie_machine();
  machine.intra->bandwidth = BytesPerSecond{20e9};
  for (const SpecNumbers numbers : {SpecNumbers::typical, SpecNumbers::fastest}) {
    EXPECT_NEAR(test::bandwidth_gb(build_network(machine, 2, numbers), 0, 1), 20, 1e-9);
  }
  EXPECT_NEAR(describe(build_network(machine, 8)).ring.at(0).with_ring.value / 1e9, 20, 1e-9);
}

TEST(PcieTree, StagingGetsItsUsualPartOfAMeasuredSlot) {
  Machine machine = pcie_machine();
  machine.intra->peer_to_peer = false;
  machine.intra->bandwidth = BytesPerSecond{20e9};
  const Network network = build_network(machine, 4);
  // Slots of 31.5 GB/s usually reach 0.78 of that peer to peer, 0.62 staged and 0.7 both ways.
  EXPECT_NEAR(test::bandwidth_gb(network, 2, 3), 20 * 0.62 / 0.78, 1e-9);
  EXPECT_NEAR(describe(network).ring.at(0).with_ring.value / 1e9, 20 * 0.7 / 0.78 / 2, 1e-9);
}

TEST(PcieTree, MoreThanTheSlotCarriesIsRefused) {
  Machine machine = pcie_machine();
  machine.intra->bandwidth = BytesPerSecond{1.04e9 * kSlot};
  EXPECT_THAT(error_of(machine, 2), IsEmpty());
  machine.intra->bandwidth = BytesPerSecond{40e9};
  EXPECT_THAT(error_of(machine, 2), HasSubstr("intra.bandwidth: 40 GB/s is more than PCIe 4.0 x16"));
}

// A pair reaches what its cards stage, not what the socket passes: four 5090 reached more through one socket
// (lab/docs/links.md) than four crossings of a memory that a pair fills would have left them.
TEST(PcieTree, ACardStagesForBothDirectionsTogetherWhateverOthersDo) {
  Machine machine = pcie_machine();
  machine.intra->peer_to_peer = false;
  for (const int num_gpus : {2, 4}) {
    const Network network = build_network(machine, num_gpus);
    EXPECT_EQ(crossings(network, ring_flows(network)).at("staging of GPU 0 in host memory"), 2);
    for (const RingHop& hop : describe(network).ring) {
      EXPECT_NEAR(hop.with_ring.value / 1e9, 0.7 * kSlot / 2, 1e-3) << num_gpus;
    }
  }
  machine.intra->lanes = 8;
  EXPECT_NEAR(describe(build_network(machine, 4)).ring.at(0).with_ring.value / 1e9, 0.7 * kSlot / 4, 1e-3);
}

// Ring 0 1 2 3 | 4 5 6 7. Three hops stay in each socket and cross its memory twice: 6. Hop 3→4 leaves one
// crossing in each memory, and so hop 7→0: 2. 8 crossings by 5 flows in each memory, one flow each way
// between.
TEST(PcieTree, TwoSocketsShareTheCrossingsOfARing) {
  Machine machine = pcie_machine();
  machine.intra->peer_to_peer = false;
  machine.intra->sockets = 2;
  const Network network = build_network(machine, 8);
  EXPECT_THAT(network.order, IsEmpty());
  const auto count = crossings(network, ring_flows(network));
  EXPECT_EQ(count.at("host memory of socket 0"), 8);
  EXPECT_EQ(count.at("host memory of socket 1"), 8);
  EXPECT_EQ(count.at("socket 0 to socket 1"), 1);
  EXPECT_EQ(count.at("socket 1 to socket 0"), 1);
  EXPECT_THAT(route_names(network, 3, 4),
              ElementsAre("GPU 3 PCIe up", "staging of GPU 3 in host memory", "host memory of socket 0",
                          "socket 0 to socket 1", "host memory of socket 1",
                          "staging of GPU 4 in host memory", "GPU 4 PCIe down"));
  EXPECT_NEAR(test::latency_us(network, 3, 4), 14.5, 1e-9);

  const TopologyDescription description = describe(network);
  const CrossedLink& memory = description.ring.at(0).links.at(2);
  EXPECT_EQ(memory.name, "host memory of socket 0");
  EXPECT_EQ(memory.times, 2);
  EXPECT_EQ(memory.ring_flows, 5);
  EXPECT_EQ(memory.ring_crossings, 8);
  for (const RingHop& hop : description.ring) {
    EXPECT_NEAR(hop.with_ring.value / 1e9, 0.7 * kSlot / 2,
                1e-3);  // The cards' staging; a memory leaves 20.5.
  }
}

TEST(PcieTree, ASwitchKeepsItsGpusOffTheHostBridge) {
  Machine machine = pcie_machine();
  machine.intra->gpus_per_switch = 2;
  machine.intra->sockets = 2;
  const Network network = build_network(machine, 8);
  EXPECT_THAT(route_names(network, 0, 1), ElementsAre("GPU 0 PCIe up", "GPU 1 PCIe down"));
  EXPECT_THAT(route_names(network, 1, 2),
              ElementsAre("GPU 1 PCIe up", "PCIe switch 0 up", "host bridge of socket 0",
                          "PCIe switch 1 down", "GPU 2 PCIe down"));
  EXPECT_THAT(
      route_names(network, 3, 4),
      ElementsAre("GPU 3 PCIe up", "PCIe switch 1 up", "host bridge of socket 0", "socket 0 to socket 1",
                  "host bridge of socket 1", "PCIe switch 2 down", "GPU 4 PCIe down"));
  // Hops 1→2, 3→4, 5→6, 7→0 leave a switch; 3→4 and 7→0 cross both bridges.
  const auto count = crossings(network, ring_flows(network));
  EXPECT_EQ(count.at("PCIe switch 0 up"), 1);
  EXPECT_EQ(count.at("PCIe switch 0 down"), 1);
  EXPECT_EQ(count.at("host bridge of socket 0"), 3);
  EXPECT_EQ(count.at("host bridge of socket 1"), 3);
}

TEST(PcieTree, StagedTrafficLeavesItsSwitch) {
  Machine machine = pcie_machine();
  machine.intra->gpus_per_switch = 4;
  machine.intra->peer_to_peer = false;
  const Network network = build_network(machine, 8);
  EXPECT_THAT(route_names(network, 0, 1),
              ElementsAre("GPU 0 PCIe up", "staging of GPU 0 in host memory", "PCIe switch 0 up",
                          "host memory of socket 0", "host memory of socket 0", "PCIe switch 0 down",
                          "staging of GPU 1 in host memory", "GPU 1 PCIe down"));
  // Four flows share the uplink of their switch: all but 3→4 stay, 3→4 leaves, 7→0 comes back.
  EXPECT_EQ(crossings(network, ring_flows(network)).at("PCIe switch 0 up"), 4);
  EXPECT_EQ(crossings(network, ring_flows(network)).at("PCIe switch 0 down"), 4);
}

TEST(PcieTree, FewerLanesAreNarrower) {
  Machine machine = pcie_machine();
  machine.intra->lanes = 4;
  EXPECT_NEAR(test::bandwidth_gb(build_network(machine, 2), 0, 1), 0.78 * kSlot / 4, 1e-3);
  machine.intra->lanes = 3;
  EXPECT_THAT(error_of(machine, 2), HasSubstr("a PCIe slot with 3 lanes is not known"));
}

TEST(PcieTree, WhatIsLeftOutComesFromTheGpu) {
  Machine machine = pcie_machine();
  machine.intra->generation = std::nullopt;
  machine.intra->peer_to_peer = std::nullopt;
  EXPECT_THAT(error_of(machine, 2), HasSubstr("intra.generation: left out"));
  machine.gpu = Gpu{"RTX 3090"};
  EXPECT_THAT(route_names(build_network(machine, 2), 0, 1), testing::Contains("host memory of socket 0"))
      << "GeForce cards have no peer-to-peer";
  machine.gpu = Gpu{"L40S"};
  EXPECT_THAT(route_names(build_network(machine, 2), 0, 1), testing::Contains("host bridge of socket 0"));
}

TEST(PcieTree, NonsenseIsExplained) {
  Machine machine = pcie_machine();
  machine.intra->generation = 7;
  EXPECT_THAT(error_of(machine, 2),
              AllOf(HasSubstr("PCIe generation 7 is not known; known: 3, 4, 5, 6"), HasSubstr("intra")));
  machine = pcie_machine();
  machine.intra->sockets = 0;
  EXPECT_THAT(error_of(machine, 2), HasSubstr("intra.sockets: 0"));
  machine = pcie_machine();
  machine.intra->sockets = 2;
  machine.intra->gpus_per_switch = 3;
  EXPECT_THAT(error_of(machine, 8), HasSubstr("GPUs 3 and 4 would share a switch but not a socket"));
  machine.intra->gpus_per_switch = 0;
  EXPECT_THAT(error_of(machine, 8), HasSubstr("intra.gpus_per_switch: 0"));
}

}  // namespace
}  // namespace ringside
