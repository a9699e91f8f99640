#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/topology/description.hpp"
#include "tests/sim/topology/machines.hpp"

namespace ringside {
namespace {

using test::crossings;
using test::dgx1_machine;
using test::error_of;
using test::nvswitch_machine;
using test::ring_flows;
using test::route_names;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(NvlinkSwitch, NoFlowOfARingSharesALink) {
  const Network network = build_network(nvswitch_machine(), 8);
  EXPECT_EQ(network.source, CostSource::spec);
  EXPECT_THAT(network.order, IsEmpty());
  EXPECT_THAT(route_names(network, 0, 7), ElementsAre("GPU 0 NVLink up", "GPU 7 NVLink down"));
  for (const auto& [link, count] : crossings(network, ring_flows(network))) {
    EXPECT_EQ(count, 1) << link;
  }
  // 12 links of 22.7 GB/s.
  EXPECT_NEAR(test::bandwidth_gb(network, 0, 7), 272.4, 1e-9);
  EXPECT_NEAR(test::latency_us(network, 0, 7), 3.1, 1e-9);
}

TEST(NvlinkSwitch, AllLinksOfAGpuAreMeasuredTogether) {
  Machine machine = nvswitch_machine();
  machine.intra->bandwidth = BytesPerSecond{240e9};
  EXPECT_NEAR(test::bandwidth_gb(build_network(machine, 8), 0, 7), 240, 1e-9);
  machine.gpus_per_node = 4;
  machine.intra->nvswitch = false;
  EXPECT_NEAR(test::bandwidth_gb(build_network(machine, 4), 0, 3), 80, 1e-9);
  machine.intra->bandwidth = BytesPerSecond{600e9};
  EXPECT_THAT(error_of(machine, 4), HasSubstr("600 GB/s is more than 12 links of NVLink 3"));
}

TEST(NvlinkSwitch, FlowsToOneGpuShareItsLinkDown) {
  const Network network = build_network(nvswitch_machine(), 8);
  const auto count = crossings(network, {{1, 0}, {2, 0}, {3, 0}});
  EXPECT_EQ(count.at("GPU 0 NVLink down"), 3);
}

TEST(NvlinkMesh, DividesTheLinksOverThePeersAndIsUniform) {
  Machine machine = nvswitch_machine();
  machine.gpus_per_node = 4;
  machine.intra->nvswitch = false;
  const Network network = build_network(machine, 4);
  // 12 links over 3 peers: 4 links of 22.9 GB/s each.
  EXPECT_NEAR(test::bandwidth_gb(network, 1, 3), 91.6, 1e-9);
  ASSERT_TRUE(network.uniform);
  EXPECT_NEAR(1e-9 / network.uniform->inverse_bandwidth.value, 91.6, 1e-9);
  EXPECT_DOUBLE_EQ(network.uniform->reduction.value, network.reduction.at(0).value);
  EXPECT_THAT(route_names(network, 1, 3), ElementsAre("NVLink GPU 1 to GPU 3"));

  machine.gpus_per_node = 8;
  EXPECT_THAT(error_of(machine, 8), HasSubstr("12 links per GPU cannot be divided over 7 peers"));
  machine.gpus_per_node = std::nullopt;
  EXPECT_THAT(error_of(machine, 4), HasSubstr("gpus_per_node: left out"));
}

TEST(Xgmi, IsAFullMeshOfOneLinkPerPeer) {
  const Machine machine{.name = "8 MI300X",
                        .gpus_per_node = 8,
                        .gpu = Gpu{"MI300X"},
                        .intra = IntraLink{.kind = IntraKind::xgmi}};
  const Network network = build_network(machine, 8);
  EXPECT_TRUE(network.uniform);
  EXPECT_NEAR(test::bandwidth_gb(network, 6, 1), 47.7, 1e-9);
}

TEST(HybridCubeMesh, HasSixLinksAtEachGpu) {
  const Network network = build_network(dgx1_machine(), 8);
  std::vector<double> out(8);
  std::vector<double> in(8);
  for (const Link& link : network.topology->links()) {
    // One link is 24.2 GB/s.
    out.at(static_cast<std::size_t>(link.from)) += link.capacity.value / 24.2e9;
    in.at(static_cast<std::size_t>(link.to)) += link.capacity.value / 24.2e9;
  }
  for (std::size_t gpu = 0; gpu < 8; ++gpu) {
    EXPECT_NEAR(out[gpu], 6, 1e-9) << gpu;
    EXPECT_NEAR(in[gpu], 6, 1e-9) << gpu;
  }
}

TEST(HybridCubeMesh, KnowsDoubleLinksSingleLinksAndDetours) {
  const Network network = build_network(dgx1_machine(), 8);
  EXPECT_NEAR(test::bandwidth_gb(network, 0, 1), 48.4, 1e-9);
  EXPECT_NEAR(test::bandwidth_gb(network, 0, 2), 24.2, 1e-9);
  // 0 and 5 have neighbours 1 (double, then single) and 4 (double, double) in common: 4 is wider.
  EXPECT_THAT(route_names(network, 0, 5), ElementsAre("NVLink GPU 0 to GPU 4", "NVLink GPU 4 to GPU 5"));
  EXPECT_NEAR(test::bandwidth_gb(network, 0, 5), 48.4, 1e-9);
  EXPECT_NEAR(test::latency_us(network, 0, 5), 3.8, 1e-9);
  EXPECT_EQ(route_names(network, 3, 4).size(), 2U);
}

TEST(HybridCubeMesh, ADetourTakesTheWidestWayAndTheFirstOfEquallyWideOnes) {
  const Network network = build_network(dgx1_machine(), 8);
  // 1 and 4 have neighbours 0 (double, double) and 5 (single, double) in common.
  EXPECT_THAT(route_names(network, 1, 4), ElementsAre("NVLink GPU 1 to GPU 0", "NVLink GPU 0 to GPU 4"));
  // 0 and 6 have 2 (single, double) and 4 (double, single) in common, 0 and 7 have 3 and 4.
  EXPECT_THAT(route_names(network, 0, 6), ElementsAre("NVLink GPU 0 to GPU 2", "NVLink GPU 2 to GPU 6"));
  EXPECT_THAT(route_names(network, 0, 7), ElementsAre("NVLink GPU 0 to GPU 3", "NVLink GPU 3 to GPU 7"));
}

TEST(HybridCubeMesh, TheRingRunsAlongDoubleLinks) {
  const Network network = build_network(dgx1_machine(), 8);
  ASSERT_EQ(network.order.size(), 8U);
  for (const RingHop& hop : describe(network).ring) {
    EXPECT_EQ(hop.links.size(), 1U) << hop.source << " to " << hop.target;
    EXPECT_NEAR(hop.with_ring.value / 1e9, 48.4, 1e-9) << hop.source << " to " << hop.target;
  }
}

TEST(HybridCubeMesh, EveryNodeOfACLusterGetsThatOrder) {
  Machine machine = dgx1_machine();
  machine.nodes = 3;
  machine.inter = InterLink{.kind = InterKind::infiniband, .rate = BytesPerSecond{12.5e9}, .nics = 4};
  const std::vector<Rank> one = build_network(dgx1_machine(), 8).order;
  const std::vector<Rank> two = build_network(machine, 16).order;
  ASSERT_EQ(two.size(), 16U);
  for (std::size_t position = 0; position < 8; ++position) {
    EXPECT_EQ(two[position], one[position]);
    EXPECT_EQ(two[position + 8], one[position] + 8);
  }
  // A node that is not full has an order of its own, and still every rank once.
  std::vector<Rank> some = build_network(machine, 19).order;
  ASSERT_EQ(some.size(), 19U);
  std::sort(some.begin(), some.end());
  std::vector<Rank> all(19);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(some, all);
}

TEST(HybridCubeMesh, OfP100HasSingleLinksOnly) {
  Machine machine = dgx1_machine();
  machine.gpu = Gpu{"P100-SXM2-16GB"};
  machine.intra->generation = 1;
  machine.intra->links_per_gpu = 4;
  const Network network = build_network(machine, 8);
  EXPECT_NEAR(test::bandwidth_gb(network, 0, 1), 18, 1e-9);
  EXPECT_EQ(network.topology->links().size(), 8U * 4);
  machine.intra->links_per_gpu = 5;
  EXPECT_THAT(error_of(machine, 8), HasSubstr("intra.links_per_gpu: 5"));
  machine.gpus_per_node = 6;
  EXPECT_THAT(error_of(machine, 6), HasSubstr("gpus_per_node: 6 GPUs; a hybrid_cube_mesh has 8 or 4"));
}

TEST(HybridCubeMesh, HalfOfItHasTheLinksThatStayWithin) {
  Machine half = dgx1_machine();
  half.gpus_per_node = 4;
  const Network network = build_network(half, 4);
  const Network whole = build_network(dgx1_machine(), 8);
  EXPECT_EQ(network.topology->links().size(), 4U * 3);
  for (const auto& [source, target] : {std::pair{0, 1}, std::pair{0, 2}, std::pair{2, 3}}) {
    EXPECT_DOUBLE_EQ(test::bandwidth_gb(network, source, target), test::bandwidth_gb(whole, source, target));
  }
}

TEST(HybridCubeMesh, HasEightGpusWhenNobodySaysSo) {
  Machine machine = dgx1_machine();
  machine.gpus_per_node = std::nullopt;
  EXPECT_EQ(build_network(machine, 4).topology->links().size(), 8U * 4);
}

TEST(BridgedPairs, LeaveTheRestToPcie) {
  const Machine machine{.name = "bridged 3090s",
                        .gpus_per_node = 4,
                        .gpu = Gpu{"RTX 3090"},
                        .intra = IntraLink{.kind = IntraKind::nvlink, .wiring = "bridge_pairs"}};
  const Network network = build_network(machine, 4);
  // GA102 bridges: 4 links of 12 GB/s.
  EXPECT_THAT(route_names(network, 2, 3), ElementsAre("NVLink bridge GPU 2 to GPU 3"));
  EXPECT_THAT(route_names(network, 3, 2), ElementsAre("NVLink bridge GPU 3 to GPU 2"));
  EXPECT_NEAR(test::bandwidth_gb(network, 2, 3), 48, 1e-9);
  EXPECT_THAT(route_names(network, 1, 2),
              ElementsAre("GPU 1 PCIe up", "staging of GPU 1 in host memory", "host memory of socket 0",
                          "host memory of socket 0", "staging of GPU 2 in host memory", "GPU 2 PCIe down"));
  // Two of four hops cross host memory, twice each.
  EXPECT_EQ(crossings(network, ring_flows(network)).at("host memory of socket 0"), 4);

  Machine unknown = machine;
  unknown.gpu = std::nullopt;
  unknown.intra->generation = 3;
  unknown.intra->links_per_gpu = 4;
  EXPECT_THAT(error_of(unknown, 4), HasSubstr("gpu: left out"));
}

TEST(BridgedPairs, AnOddGpuIsAlone) {
  const Machine machine{.name = "three cards",
                        .gpus_per_node = 3,
                        .gpu = Gpu{"A100-PCIE-80GB"},
                        .intra = IntraLink{.kind = IntraKind::nvlink, .wiring = "bridge_pairs"}};
  const Network network = build_network(machine, 3);
  EXPECT_THAT(route_names(network, 1, 2),
              ElementsAre("GPU 1 PCIe up", "host bridge of socket 0", "GPU 2 PCIe down"));
  EXPECT_NEAR(test::bandwidth_gb(network, 0, 1), 12 * 22.9, 1e-9);
}

TEST(Nvlink, NonsenseIsExplained) {
  Machine machine = nvswitch_machine();
  machine.gpu = std::nullopt;
  machine.intra->generation = 9;
  EXPECT_THAT(error_of(machine, 2), HasSubstr("generation 9 is not known; known: 2, 3, 4, 5"));
  machine.intra->generation = std::nullopt;
  EXPECT_THAT(error_of(machine, 2), HasSubstr("intra.generation: left out"));
  machine.intra->generation = 3;
  machine.intra->links_per_gpu = 0;
  EXPECT_THAT(error_of(machine, 2), HasSubstr("intra.links_per_gpu: 0"));
  machine.intra->links_per_gpu = 12;
  machine.intra->wiring = "full_mesh";
  EXPECT_THAT(error_of(machine, 2), HasSubstr("intra.wiring: with `switch: true`"));
}

}  // namespace
}  // namespace ringside
