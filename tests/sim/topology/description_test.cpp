#include "sim/topology/description.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedule/registry.hpp"
#include "sim/engine/flow.hpp"
#include "tests/sim/topology/machines.hpp"

namespace ringside {
namespace {

const DrawnVertex* find(const TopologyDescription& description, const std::string& label) {
  const auto found = std::find_if(description.vertices.begin(), description.vertices.end(),
                                  [&](const DrawnVertex& vertex) { return vertex.label == label; });
  return found == description.vertices.end() ? nullptr : &*found;
}

TEST(DescribeTopology, TellsEachHopOfTheRing) {
  Machine machine = test::pcie_machine();
  machine.ring_order = std::vector<Rank>{0, 2, 1, 3, 4, 5, 6, 7};
  const TopologyDescription description = describe(build_network(machine, 4));
  ASSERT_EQ(description.ring.size(), 4U);
  EXPECT_EQ(description.ring[0].source, 0);
  EXPECT_EQ(description.ring[0].target, 2);
  EXPECT_EQ(description.ring[3].source, 3);
  EXPECT_EQ(description.ring[3].target, 0);
  ASSERT_EQ(description.ring[0].links.size(), 3U);
  EXPECT_EQ(description.ring[0].links[1].name, "host bridge of socket 0");
  EXPECT_EQ(description.ring[0].links[1].ring_flows, 4);
  EXPECT_NEAR(description.ring[0].latency.value, 2e-6, 1e-15);
}

TEST(DescribeTopology, NamesThePortsOfACustomMachine) {
  const TopologyDescription description = describe(build_network(test::custom_machine(), 3));
  ASSERT_EQ(description.ring.size(), 3U);
  ASSERT_EQ(description.ring[2].links.size(), 2U);
  EXPECT_EQ(description.ring[2].links[0].name, "rank 2's port out");
  EXPECT_EQ(description.ring[2].links[1].name, "rank 0's port in");
  EXPECT_DOUBLE_EQ(description.ring[2].with_ring.value, 20e9);
}

TEST(DescribeTopology, OfPrivateLinksHasNumbersButNothingToCross) {
  Machine mesh = test::custom_machine();
  mesh.intra->ports = Ports::all;
  const TopologyDescription description = describe(build_network(mesh, 3));
  ASSERT_EQ(description.ring.size(), 3U);
  for (const RingHop& hop : description.ring) {
    EXPECT_TRUE(hop.links.empty());
    EXPECT_DOUBLE_EQ(hop.latency.value, 6e-6);
    EXPECT_DOUBLE_EQ(hop.alone.value, 20e9);
    EXPECT_DOUBLE_EQ(hop.with_ring.value, 20e9);
  }
  EXPECT_EQ(description.vertices.size(), 3U);
  EXPECT_TRUE(description.edges.empty());
}

TEST(DescribeTopology, EveryGpuSitsOnASharedMedium) {
  Machine bus = test::custom_machine();
  bus.intra->shared = true;
  const TopologyDescription description = describe(build_network(bus, 3));
  const DrawnVertex* medium = find(description, "shared medium");
  ASSERT_NE(medium, nullptr);
  const auto index = static_cast<std::int32_t>(medium - description.vertices.data());
  EXPECT_EQ(
      std::ranges::count_if(description.edges,
                            [&](const DrawnEdge& edge) { return edge.to == index && edge.from != index; }),
      3);
}

TEST(DescribeTopology, OfOneRankHasNoRing) {
  EXPECT_TRUE(describe(build_network(test::custom_machine(), 1)).ring.empty());
}

TEST(DescribeTopology, DrawsATreeLevelByLevel) {
  Machine machine = test::pcie_machine();
  machine.intra->gpus_per_switch = 4;
  machine.intra->sockets = 2;
  const TopologyDescription description = describe(build_network(machine, 6));
  ASSERT_NE(find(description, "GPU 5"), nullptr);
  EXPECT_EQ(find(description, "GPU 5")->rank, 5);
  EXPECT_EQ(find(description, "GPU 6")->rank, std::nullopt) << "six ranks leave two GPUs idle";
  EXPECT_EQ(find(description, "GPU 5")->level, 0);
  EXPECT_EQ(find(description, "PCIe switch 1")->level, 1);
  EXPECT_EQ(find(description, "socket 1")->level, 2);
  EXPECT_EQ(find(description, "socket 1")->kind, VertexKind::host_bridge);
  // 8 slots, 2 uplinks, the socket link, each both ways; and 2 bridges that are at their vertex.
  EXPECT_EQ(description.edges.size(), 13U);
  const auto num_duplex = std::count_if(description.edges.begin(), description.edges.end(),
                                        [](const DrawnEdge& edge) { return edge.duplex; });
  EXPECT_EQ(num_duplex, 11);
}

TEST(DescribeTopology, EveryEdgeJoinsVerticesThatAreThere) {
  for (const Machine& machine : {test::pcie_machine(), test::nvswitch_machine(), test::dgx1_machine()}) {
    const TopologyDescription one = describe(build_network(machine, 8));
    Machine nodes = machine;
    nodes.nodes = 2;
    nodes.inter =
        InterLink{.kind = InterKind::roce, .rate = BytesPerSecond{25e9}, .nics = 2, .oversubscription = 2};
    const TopologyDescription two = describe(build_network(nodes, 16));
    for (const TopologyDescription* description : {&one, &two}) {
      ASSERT_FALSE(description->edges.empty());
      const auto num_vertices = static_cast<std::int32_t>(description->vertices.size());
      std::vector<bool> touched(description->vertices.size());
      for (const DrawnEdge& edge : description->edges) {
        ASSERT_TRUE(0 <= edge.from && edge.from < num_vertices) << machine.name << ": " << edge.label;
        ASSERT_TRUE(0 <= edge.to && edge.to < num_vertices) << machine.name << ": " << edge.label;
        touched[static_cast<std::size_t>(edge.from)] = true;
        touched[static_cast<std::size_t>(edge.to)] = true;
      }
      EXPECT_EQ(std::count(touched.begin(), touched.end(), false), 0) << machine.name;
    }
    ASSERT_NE(find(two, "fabric"), nullptr);
    EXPECT_GE(find(two, "fabric")->level, 2) << machine.name;
    EXPECT_EQ(find(two, "node 1: GPU 3")->rank, 11);
  }
}

TEST(DescribeTopology, HalfDuplexIsDrawnAsSuch) {
  const Machine machine{.name = "half",
                        .links = {{.from = "rank 0", .to = "rank 1", .bandwidth = {1e9}, .duplex = false}}};
  const TopologyDescription description = describe(build_network(machine, 2));
  ASSERT_EQ(description.edges.size(), 1U);
  EXPECT_FALSE(description.edges[0].duplex);
  EXPECT_NEAR(description.ring.at(0).with_ring.value, 0.5e9, 1);
}

// The description counts crossings; the flow simulation shares links out event by event. With a large message
// a ring of chunks moves 2(N−1)/N · S through the hop that gets least.
TEST(DescribeTopology, SaysWhatTheFlowSimulationFinds) {
  Machine staged = test::pcie_machine();
  staged.intra->peer_to_peer = false;
  staged.intra->sockets = 2;
  Machine switched = test::nvswitch_machine();
  switched.gpu = std::nullopt;  // γ = 0, so that links alone take time.
  Machine nodes = test::pcie_machine();
  nodes.nodes = 2;
  nodes.intra->gpus_per_switch = 4;
  nodes.inter = InterLink{
      .kind = InterKind::infiniband, .rate = BytesPerSecond{25e9}, .gpudirect = false, .oversubscription = 3};
  for (const auto& [machine, num_ranks] :
       {std::pair{staged, 8}, std::pair{switched, 8}, std::pair{nodes, 16}}) {
    const Network network = build_network(machine, num_ranks);
    double least = 1e18;
    for (const RingHop& hop : describe(network).ring) {
      least = std::min(least, hop.with_ring.value);
    }
    const Schedule ring(*find_algorithm(Collective::all_reduce, "ring"),
                        {.num_ranks = num_ranks, .order = network.order});
    const Bytes size{std::int64_t{num_ranks} << 30};
    const double seconds = simulate_flow(Execution(ring, size, DataType::float32), network).seconds.value;
    const double bus = 2.0 * (num_ranks - 1) / num_ranks * static_cast<double>(size.value) / seconds;
    EXPECT_NEAR(bus / least, 1, 1e-3) << machine.name;
  }
}

}  // namespace
}  // namespace ringside
