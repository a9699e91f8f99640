#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "sim/topology/gpu_models.hpp"
#include "tests/sim/topology/machines.hpp"

namespace ringside {
namespace {

using test::custom_machine;
using test::error_of;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(BuildNetwork, CustomLinksAreUniformAndNeedNoTopology) {
  Machine machine = custom_machine();
  machine.intra->reduction = SecondsPerByte{0.1e-9};
  const Network network = build_network(machine, 4);
  ASSERT_TRUE(network.uniform);
  EXPECT_EQ(network.topology, nullptr);
  EXPECT_DOUBLE_EQ(network.uniform->latency.value, 6e-6);
  EXPECT_DOUBLE_EQ(network.uniform->inverse_bandwidth.value, 1 / 20e9);
  EXPECT_DOUBLE_EQ(network.uniform->reduction.value, 0.1e-9);
  EXPECT_TRUE(network.uniform->single_port);
  machine.intra->ports = Ports::all;
  EXPECT_FALSE(build_network(machine, 4).uniform->single_port);
  EXPECT_EQ(network.source, CostSource::given);
  EXPECT_THAT(network.order, IsEmpty());
  EXPECT_EQ(network.ranks_per_node, 0);
}

TEST(BuildNetwork, ASharedCustomLinkIsOneMediumThatEveryFlowCrosses) {
  Machine machine = custom_machine();
  machine.intra->shared = true;
  const Network network = build_network(machine, 5);
  EXPECT_FALSE(network.uniform);
  ASSERT_EQ(network.topology->links().size(), 1U);
  for (const auto& [source, target] : test::ring_flows(network)) {
    EXPECT_THAT(test::route_names(network, source, target), ElementsAre("shared medium"));
  }
  EXPECT_DOUBLE_EQ(test::latency_us(network, 4, 1), 6);
  EXPECT_DOUBLE_EQ(test::bandwidth_gb(network, 4, 1), 20);
}

TEST(BuildNetwork, NodesOfCustomLinksHaveAPortPerGpuAndShareTheNic) {
  Machine machine = custom_machine();
  machine.nodes = 2;
  machine.gpus_per_node = 3;
  machine.inter = InterLink{.latency = Seconds{10e-6}, .bandwidth = BytesPerSecond{5e9}};
  const Network network = build_network(machine, 6);
  EXPECT_FALSE(network.uniform);
  EXPECT_EQ(network.source, CostSource::given);
  EXPECT_EQ(network.ranks_per_node, 3);
  EXPECT_THAT(test::route_names(network, 0, 2),
              ElementsAre("node 0: GPU 0's port out", "node 0: GPU 2's port in"));
  EXPECT_DOUBLE_EQ(test::latency_us(network, 0, 2), 6);
  EXPECT_DOUBLE_EQ(test::bandwidth_gb(network, 0, 2), 20);
  EXPECT_THAT(test::route_names(network, 2, 4), ElementsAre("node 0: NIC 0 out", "node 1: NIC 0 in"));
  // The stated latency is that of the whole way, half of it at each end.
  EXPECT_DOUBLE_EQ(test::latency_us(network, 2, 4), 10);
  EXPECT_DOUBLE_EQ(test::bandwidth_gb(network, 2, 4), 5);

  machine.intra->ports = Ports::all;
  EXPECT_THAT(test::route_names(build_network(machine, 6), 5, 4),
              ElementsAre("node 1: private link GPU 2 to GPU 1"));
}

TEST(BuildNetwork, ANodeThatIsEnoughForTheRanksNeedsNoOther) {
  Machine machine = custom_machine();
  machine.nodes = 2;
  machine.gpus_per_node = 3;
  EXPECT_TRUE(build_network(machine, 3).uniform);
  EXPECT_THAT(error_of(machine, 4), AllOf(HasSubstr("inter: left out"), HasSubstr("4 ranks")));
}

TEST(BuildNetwork, GpusThatAreLeftOutAreAsManyAsTheRanksNeed) {
  Machine machine = custom_machine();
  EXPECT_EQ(build_network(machine, 7).num_ranks, 7);
  machine.nodes = 2;
  machine.inter = InterLink{.latency = Seconds{10e-6}, .bandwidth = BytesPerSecond{5e9}};
  EXPECT_EQ(build_network(machine, 8).ranks_per_node, 4);
  EXPECT_EQ(build_network(machine, 7).ranks_per_node, 4);
}

TEST(BuildNetwork, TooFewGpusAreNamed) {
  Machine machine = custom_machine();
  machine.name = "4× RTX 3090";
  machine.gpus_per_node = 4;
  EXPECT_EQ(error_of(machine, 8), "machine '4× RTX 3090' has 4 GPUs, 8 ranks were asked for");
  machine.gpus_per_node = 1;
  EXPECT_EQ(error_of(machine, 2), "machine '4× RTX 3090' has 1 GPU, 2 ranks were asked for");
  EXPECT_EQ(error_of(machine, 1), "");
}

TEST(BuildNetwork, AMachineThatCannotBeIsExplained) {
  Machine silent{.name = "silent"};
  EXPECT_THAT(error_of(silent, 2), HasSubstr("machine 'silent': intra: left out, but a node has 2 GPUs"));

  Machine machine = custom_machine();
  machine.origin = "box.yaml";
  machine.intra->bandwidth = BytesPerSecond{0};
  EXPECT_EQ(error_of(machine, 2), "box.yaml: intra.bandwidth: nothing can be sent at 0 B/s");
  machine.intra->bandwidth = std::nullopt;
  EXPECT_THAT(error_of(machine, 2), HasSubstr("box.yaml: intra.bandwidth: left out"));

  machine = custom_machine();
  machine.nodes = 0;
  EXPECT_THAT(error_of(machine, 2), HasSubstr("nodes: 0"));
  machine.nodes = 2;
  machine.gpus_per_node = 1;
  machine.inter = InterLink{.kind = InterKind::infiniband};
  EXPECT_THAT(error_of(machine, 2),
              HasSubstr("inter.rate: left out; say the data-sheet rate of one infiniband NIC"));
  machine.inter->rate = BytesPerSecond{0};
  EXPECT_THAT(error_of(machine, 2), HasSubstr("inter.rate: nothing can be sent"));
  machine.inter->rate = BytesPerSecond{25e9};
  machine.inter->nics = 0;
  EXPECT_THAT(error_of(machine, 2), HasSubstr("inter.nics: 0"));
}

TEST(BuildNetwork, ReductionComesFromTheMachineThenFromTheGpuAndIsZeroOtherwise) {
  Machine machine = custom_machine();
  EXPECT_EQ(build_network(machine, 2).reduction.at(1).value, 0);
  machine.gpu = Gpu{"RTX 3090"};
  // 3 bytes moved per byte reduced, at 84 % of 936 GB/s.
  const double expected = 3 / (0.84 * 936e9);
  EXPECT_DOUBLE_EQ(build_network(machine, 2).reduction.at(1).value, expected);
  EXPECT_DOUBLE_EQ(build_network(machine, 2).uniform->reduction.value, expected);
  machine.intra->reduction = SecondsPerByte{1e-9};
  EXPECT_DOUBLE_EQ(build_network(machine, 2).reduction.at(1).value, 1e-9);
}

TEST(BuildNetwork, AnUnknownGpuIsAnErrorWithTheNearestName) {
  Machine machine = custom_machine();
  machine.origin = "box.yaml";
  machine.gpu = Gpu{"RTX 3091"};
  EXPECT_THAT(error_of(machine, 2), AllOf(HasSubstr("box.yaml: gpu.model: unknown GPU model 'RTX 3091'"),
                                          HasSubstr("did you mean 'RTX 3090'")));
}

TEST(BuildNetwork, AForcedRingOrderIsTaken) {
  Machine machine = custom_machine();
  machine.ring_order = std::vector<Rank>{0, 2, 4, 6, 1, 3, 5, 7};
  EXPECT_THAT(build_network(machine, 8).order, ElementsAre(0, 2, 4, 6, 1, 3, 5, 7));
  // Fewer ranks keep their places in it.
  EXPECT_THAT(build_network(machine, 4).order, ElementsAre(0, 2, 1, 3));
  EXPECT_THAT(error_of(machine, 9), HasSubstr("ring_order: it names 8 ranks, 9 were asked for"));

  machine.ring_order = std::vector<Rank>{0, 1, 2, 3};
  EXPECT_THAT(build_network(machine, 4).order, IsEmpty()) << "identity is spelt as the empty order";
}

TEST(BuildNetwork, StragglersAreSlowedDownAndTheOthersAreNot) {
  Machine machine = custom_machine();
  EXPECT_THAT(build_network(machine, 3).slowdown, IsEmpty());
  machine.stragglers = {{.rank = 1, .slowdown = 2.5}, {.rank = 6, .slowdown = 3}};
  EXPECT_THAT(build_network(machine, 3).slowdown, ElementsAre(1, 2.5, 1));
  machine.gpus_per_node = 4;
  EXPECT_THAT(error_of(machine, 3), HasSubstr("stragglers: there is no rank 6"));
}

TEST(BuildNetwork, ACalibratedMachineIsWhatTheProbesSaw) {
  Machine machine = test::pcie_machine();
  machine.gpu = Gpu{"some card that no data sheet here knows"};
  machine.calibrated = Calibrated{.latency = {9e-6}, .bandwidth = {3e9}, .reduction = {0.2e-9}};
  Network network = build_network(machine, 8);
  EXPECT_EQ(network.source, CostSource::calibrated);
  ASSERT_TRUE(network.uniform);
  EXPECT_DOUBLE_EQ(network.uniform->latency.value, 9e-6);
  EXPECT_DOUBLE_EQ(network.uniform->inverse_bandwidth.value, 1 / 3e9);
  EXPECT_DOUBLE_EQ(network.reduction.at(7).value, 0.2e-9);
  EXPECT_FALSE(network.processor);

  machine.calibrated->cores = 2;
  EXPECT_FALSE(build_network(machine, 8).processor) << "nothing is known of what one message takes of a core";
  machine.calibrated->curves = {
      {.kind = ProbeKind::ping_pong, .points = {{{8}, 9e-6}}},
      {.kind = ProbeKind::neighbour_exchange, .ranks = 4, .points = {{{8}, 12e-6}}},
      {.kind = ProbeKind::neighbour_exchange, .ranks = 4, .messages = 2, .points = {{{8}, 15e-6}}},
      {.kind = ProbeKind::neighbour_exchange, .ranks = 16, .points = {{{8}, 20e-6}}},
      {.kind = ProbeKind::reduction, .ranks = 1, .points = {{{64}, 0.3e-9}}}};
  network = build_network(machine, 8);
  ASSERT_TRUE(network.processor);
  EXPECT_EQ(network.processor->cores, 2);
  EXPECT_EQ(network.processor->curves.size(), 4U)
      << "two messages each say what four ranks do, not what eight do";
  EXPECT_EQ(find_curve(network.processor->curves, ProbeKind::neighbour_exchange, 4, 2), nullptr);
  EXPECT_EQ(build_network(machine, 4).processor->curves.size(), 4U) << "nor do sixteen say what four do";

  machine.calibrated->bandwidth = {0};
  EXPECT_THAT(error_of(machine, 8), HasSubstr("calibrated.bandwidth: nothing can be sent at 0 B/s"));
  machine.calibrated->bandwidth = {1};
  EXPECT_EQ(build_network(machine, 8).uniform->inverse_bandwidth.value, 1) << "a byte a second is slow";
}

TEST(BuildNetwork, OneRankIsANetworkToo) {
  for (const Machine& machine : {custom_machine(), test::pcie_machine(), test::nvswitch_machine(),
                                 test::dgx1_machine(), test::two_node_machine(8)}) {
    EXPECT_EQ(build_network(machine, 1).num_ranks, 1) << machine.name;
  }
}

TEST(GpuModels, AreFoundHoweverTheyAreSpelt) {
  const auto gigabytes = [](const char* text) { return gpu_model(text).memory_bandwidth.typical / 1e9; };
  EXPECT_DOUBLE_EQ(gigabytes("RTX 3090"), 936);
  EXPECT_DOUBLE_EQ(gigabytes("NVIDIA GeForce RTX 3090"), 936);
  EXPECT_DOUBLE_EQ(gigabytes("rtx_3090"), 936);
  EXPECT_DOUBLE_EQ(gigabytes("3090"), 936);
  EXPECT_DOUBLE_EQ(gigabytes("RTX3090"), 936);
  EXPECT_DOUBLE_EQ(gigabytes("RTX 4090"), 1008);
  EXPECT_DOUBLE_EQ(gigabytes("L40S"), 864);
  EXPECT_DOUBLE_EQ(gigabytes("A100-SXM4-80GB"), 2039);
  EXPECT_DOUBLE_EQ(gigabytes("A100 PCIE 80GB"), 1935);
  EXPECT_DOUBLE_EQ(gigabytes("H100-SXM5-80GB"), 3350);
  EXPECT_DOUBLE_EQ(gigabytes("NVIDIA H100 80GB HBM3"), 3350) << "as drivers call the SXM board";
  EXPECT_DOUBLE_EQ(gigabytes("NVIDIA RTX PRO 6000 Blackwell Server Edition"), 1792);
  for (const char* name :
       {"RTX PRO 6000", "RTX6000 Pro", "rtx pro 6000 ws", "RTX PRO 6000 S", "RTX PRO 6000 Blackwell Max-Q"}) {
    EXPECT_DOUBLE_EQ(gigabytes(name), 1792) << name;
  }
  EXPECT_DOUBLE_EQ(gigabytes("GB300"), 8000);
  EXPECT_DOUBLE_EQ(gigabytes("NVIDIA H800"), 3350);
  EXPECT_DOUBLE_EQ(gigabytes("H20"), 4000);
  EXPECT_DOUBLE_EQ(gigabytes("H100 NVL"), 3938);
  EXPECT_DOUBLE_EQ(gigabytes("Tesla V100-SXM2-16GB"), 900);
}

TEST(GpuModels, ACardOfANotebookIsNotThatOfADesktop) { EXPECT_THROW(gpu_model("RTX 3080 Max-Q"), Error); }

TEST(GpuModels, AFamilyStandsForAllItsCards) {
  const GpuModel family = gpu_model("A100");
  EXPECT_DOUBLE_EQ(family.memory_bandwidth.low, 1555e9);
  EXPECT_DOUBLE_EQ(family.memory_bandwidth.high, 2039e9);
  EXPECT_EQ(family.num_links, 12);
  EXPECT_EQ(family.pcie_generation, 4);
  EXPECT_EQ(gpu_model("H100").num_links, std::nullopt) << "18 on SXM boards, 12 on bridged cards";
  EXPECT_EQ(gpu_model("H100 80GB").memory_bandwidth.low, 2000e9);
}

TEST(GpuModels, OneThatNobodyKnowsIsTakenFromThoseWithItsLinksOrArchitecture) {
  Machine machine;
  machine.gpu = Gpu{.model = "Zeta 9"};
  machine.intra =
      IntraLink{.kind = IntraKind::nvlink, .generation = 5, .links_per_gpu = 18, .nvswitch = true};
  const GpuModel by_links = gpu_model(machine);
  EXPECT_EQ(by_links.vendor, Vendor::nvidia);
  EXPECT_EQ(by_links.architecture, Architecture::blackwell);
  EXPECT_GT(by_links.taken_from, 1);
  EXPECT_DOUBLE_EQ(by_links.memory_bandwidth.high, 8e12);
  EXPECT_EQ(by_links.num_links, std::nullopt) << "how many it has is its own affair";
  machine.intra = IntraLink{.kind = IntraKind::pcie, .generation = 4};
  const GpuModel any = gpu_model(machine);
  EXPECT_FALSE(any.alike) << "cards of every kind have such slots";
  EXPECT_EQ(any.architecture, std::nullopt);
  EXPECT_DOUBLE_EQ(any.memory_bandwidth.low, 240e9);
  machine.intra = IntraLink{.kind = IntraKind::pcie};
  EXPECT_ANY_THROW(gpu_model(machine)) << "nor are its links stated";
  machine.intra->generation = 4;
  machine.gpu->architecture = Architecture::ada;
  EXPECT_DOUBLE_EQ(gpu_model(machine).memory_bandwidth.high, 1008e9);
  machine.gpu = Gpu{.model = "H10O-SXM"};
  machine.intra = IntraLink{.kind = IntraKind::nvlink, .generation = 4, .links_per_gpu = 18};
  EXPECT_ANY_THROW(gpu_model(machine)) << "looks like a slip of the pen";
  machine.gpu->architecture = Architecture::hopper;
  EXPECT_GT(gpu_model(machine).taken_from, 1) << "but is meant";
  machine.gpu = Gpu{.model = "H100-SXM"};
  EXPECT_EQ(gpu_model(machine).taken_from, 0);
}

TEST(GpuModels, WhatIsSaidOfAKnownGpuCountsMoreThanItsDataSheet) {
  Machine machine;
  machine.gpu = Gpu{.model = "RTX 3090"};
  EXPECT_EQ(gpu_model(machine).memory_bandwidth.typical, 936e9);
  machine.gpu->memory_bandwidth = BytesPerSecond{800e9};
  const GpuModel stated = gpu_model(machine);
  EXPECT_EQ(stated.memory_bandwidth.low, 800e9);
  EXPECT_EQ(stated.memory_bandwidth.typical, 800e9);
  EXPECT_EQ(stated.memory_bandwidth.high, 800e9);
  EXPECT_EQ(stated.architecture, Architecture::ampere);
  machine.gpu->architecture = Architecture::ada;
  EXPECT_EQ(gpu_model(machine).architecture, Architecture::ada);
}

TEST(GpuModels, ALookAlikeIsNotTaken) {
  for (const char* text : {"A1000", "RTX 4090 D", "A100 Ultra", "RTX 6000", "", "H100-SXM5-96GB"}) {
    EXPECT_ANY_THROW(gpu_model(text)) << text;
  }
}

}  // namespace
}  // namespace ringside
