#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/predict.hpp"
#include "sim/topology/description.hpp"
#include "tests/sim/topology/fat_tree.hpp"
#include "tests/sim/topology/machines.hpp"

namespace ringside {
namespace {

using test::crossings;
using test::Flow;
using test::ring_flows;
using test::route_names;
using test::two_node_machine;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Rank i of node 0 to rank i of node 1, all at once.
std::vector<Flow> flows_between_nodes() {
  std::vector<Flow> flows;
  for (Rank rank = 0; rank < 8; ++rank) {
    flows.emplace_back(rank, rank + 8);
  }
  return flows;
}

TEST(Cluster, EveryGpuHasItsOwnOfEightNics) {
  const Network network = build_network(two_node_machine(8), 16);
  EXPECT_EQ(network.ranks_per_node, 8);
  EXPECT_THAT(network.order, IsEmpty());
  EXPECT_THAT(route_names(network, 7, 8), ElementsAre("node 0: GPU 7 PCIe up", "node 0: NIC 7 out",
                                                      "node 1: NIC 0 in", "node 1: GPU 0 PCIe down"));
  for (const auto& [link, count] : crossings(network, flows_between_nodes())) {
    EXPECT_EQ(count, 1) << link;
  }
  // HDR, 0.92 of 25 GB/s; 3.3 us from GPU to GPU, slots included.
  EXPECT_NEAR(test::bandwidth_gb(network, 7, 8), 23, 1e-9);
  EXPECT_NEAR(test::latency_us(network, 7, 8), 3.3, 1e-9);
}

TEST(Cluster, EightGpusShareOneNicWhereARingNeedsIt) {
  const Network network = build_network(two_node_machine(1), 16);
  const auto all = crossings(network, flows_between_nodes());
  EXPECT_EQ(all.at("node 0: NIC 0 out"), 8);
  EXPECT_EQ(all.at("node 1: NIC 0 in"), 8);
  // One ring leaves each node once, so that a second NIC would not help it.
  const auto ring = crossings(network, ring_flows(network));
  EXPECT_EQ(ring.at("node 0: NIC 0 out"), 1);
  EXPECT_EQ(ring.at("node 0: NIC 0 in"), 1);
  EXPECT_NEAR(describe(network).ring.at(7).with_ring.value / 1e9, 23, 1e-9);
}

TEST(Cluster, GpusAreSpreadOverNicsInOrder) {
  const Network network = build_network(two_node_machine(2), 16);
  EXPECT_THAT(route_names(network, 3, 12), Contains("node 0: NIC 0 out"));
  EXPECT_THAT(route_names(network, 4, 11), Contains("node 0: NIC 1 out"));
  EXPECT_THAT(route_names(network, 4, 11), Contains("node 1: NIC 0 in"));
}

TEST(Cluster, MoreNicsThanGpusAreUsedTogether) {
  const Network network = build_network(two_node_machine(16), 16);
  EXPECT_THAT(route_names(network, 1, 9), Contains("node 0: NICs 2 to 3 out"));
  // Two NICs of 23 GB/s, but one slot of PCIe 4.0 x16: 0.78 · 31.5.
  EXPECT_NEAR(test::bandwidth_gb(network, 1, 9), 0.78 * 31.50768, 1e-3);
}

TEST(Cluster, AnOversubscribedFabricIsSharedByTheNode) {
  Machine machine = two_node_machine(8);
  machine.inter->oversubscription = 4;
  const Network network = build_network(machine, 16);
  EXPECT_THAT(route_names(network, 0, 8), Contains("node 0: part of the fabric, out"));
  EXPECT_THAT(route_names(network, 0, 8), Contains("node 1: part of the fabric, in"));
  EXPECT_EQ(crossings(network, flows_between_nodes()).at("node 0: part of the fabric, out"), 8);
  // 8 NICs of 23 GB/s over 4: one flow still gets all of its NIC.
  EXPECT_NEAR(test::bandwidth_gb(network, 0, 8), 23, 1e-9);
  for (const Link& link : network.topology->links()) {
    if (name_of(link) == "node 0: part of the fabric, out") {
      EXPECT_NEAR(link.capacity.value / 1e9, 46, 1e-9);
    }
  }
}

TEST(Cluster, MessagesToOtherGroupsShareUplinksAtEveryLevel) {
  Machine machine = two_node_machine(8);
  machine.nodes = 8;
  machine.inter->levels = {{.nodes = 2, .oversubscription = 2},
                           {.nodes = 4, .oversubscription = 4, .latency = Seconds{2e-6}}};
  const Network network = build_network(machine, 64);
  const auto uplinks = [&](Rank source, Rank target) {
    std::vector<std::string> names;
    for (const std::string& name : route_names(network, source, target)) {
      if (name.find("uplinks") != std::string::npos) {
        names.push_back(name);
      }
    }
    return names;
  };
  EXPECT_THAT(uplinks(0, 8), testing::IsEmpty());
  EXPECT_THAT(uplinks(0, 24),
              testing::ElementsAre("nodes 0 to 1: uplinks, out", "nodes 2 to 3: uplinks, in"));
  EXPECT_THAT(uplinks(0, 63), testing::ElementsAre("nodes 0 to 1: uplinks, out", "nodes 0 to 3: uplinks, out",
                                                   "nodes 4 to 7: uplinks, in", "nodes 6 to 7: uplinks, in"));
  EXPECT_NEAR(test::latency_us(network, 0, 63) - test::latency_us(network, 0, 24), 2, 1e-9);
  for (const Link& link : network.topology->links()) {
    if (link.name == "nodes 0 to 3: uplinks, out") {
      EXPECT_NEAR(link.capacity.value / 1e9, 4 * 8 * 23 / 4, 1e-9);
    }
  }
}

TEST(Cluster, EveryTwoGroupsOfADragonflyHaveALinkOfTheirOwn) {
  Machine machine = two_node_machine(8);
  machine.nodes = 8;
  machine.inter->levels = {{.nodes = 2, .oversubscription = 2, .latency = Seconds{3e-6}, .pairwise = true}};
  const Network network = build_network(machine, 64);
  std::set<std::string> pairs;
  for (int source = 0; source < 4; ++source) {
    for (int target = 0; target < 4; ++target) {
      const std::string link = fmt::format("nodes from {} to nodes from {}", 2 * source, 2 * target);
      const std::vector<std::string> names = route_names(network, source * 16 + 3, target * 16 + 9);
      EXPECT_EQ(std::count(names.begin(), names.end(), link), source == target ? 0 : 1) << link;
      pairs.insert(link);
    }
  }
  EXPECT_EQ(pairs.size(), 16U);
  EXPECT_NEAR(test::latency_us(network, 0, 63) - test::latency_us(network, 0, 8), 3, 1e-9);
  const auto& links = network.topology->links();
  EXPECT_EQ(std::count_if(links.begin(), links.end(),
                          [](const Link& link) {
                            // Two nodes' NICs, half of that, among three others.
                            return link.name.starts_with("nodes from") &&
                                   std::abs(link.capacity.value - 2 * 8 * 23e9 / 2 / 3) < 1;
                          }),
            4 * 3);
  machine.nodes = 4096;
  EXPECT_THAT(test::error_of(machine, 16), testing::HasSubstr("2048 groups are too many"));
}

TEST(Cluster, WithoutGpudirectHostMemoryIsCrossedTwiceAtBothEnds) {
  Machine machine = two_node_machine(1);
  machine.inter->gpudirect = false;
  const Network network = build_network(machine, 16);
  EXPECT_THAT(route_names(network, 7, 8),
              ElementsAre("node 0: GPU 7 PCIe up", "node 0: host memory of socket 0",
                          "node 0: host memory of socket 0", "node 0: NIC 0 out", "node 1: NIC 0 in",
                          "node 1: host memory of socket 0", "node 1: host memory of socket 0",
                          "node 1: GPU 0 PCIe down"));
  EXPECT_NEAR(test::latency_us(network, 7, 8), 3.3 + 4 * 6, 1e-9);
  // Out and in: four crossings of each host memory in a ring.
  EXPECT_EQ(crossings(network, ring_flows(network)).at("node 0: host memory of socket 0"), 4);
}

TEST(Cluster, NicsOfAPcieBoxSitWithTheGpusThatUseThem) {
  Machine machine = test::pcie_machine();
  machine.nodes = 2;
  machine.intra->sockets = 2;
  machine.intra->gpus_per_switch = 2;
  machine.inter = InterLink{.kind = InterKind::infiniband, .rate = BytesPerSecond{25e9}, .nics = 4};
  const Network with_switches = build_network(machine, 16);
  EXPECT_THAT(route_names(with_switches, 3, 8), ElementsAre("node 0: GPU 3 PCIe up", "node 0: NIC 1 out",
                                                            "node 1: NIC 0 in", "node 1: GPU 0 PCIe down"));
  // One NIC for all hangs on the first socket.
  machine.inter->nics = 1;
  const Network with_one = build_network(machine, 16);
  EXPECT_THAT(
      route_names(with_one, 7, 8),
      ElementsAre("node 0: GPU 7 PCIe up", "node 0: PCIe switch 3 up", "node 0: host bridge of socket 1",
                  "node 0: socket 1 to socket 0", "node 0: host bridge of socket 0", "node 0: NIC 0 out",
                  "node 1: NIC 0 in", "node 1: host bridge of socket 0", "node 1: PCIe switch 0 down",
                  "node 1: GPU 0 PCIe down"));
}

TEST(Cluster, TcpGoesThroughHostMemoryAndConsumerCardsDoToo) {
  Machine machine = two_node_machine(1);
  machine.inter->gpudirect = std::nullopt;
  EXPECT_THAT(route_names(build_network(machine, 16), 7, 8), Not(Contains(HasSubstr("host memory"))));
  machine.inter->kind = InterKind::ethernet;
  EXPECT_THAT(route_names(build_network(machine, 16), 7, 8), Contains(HasSubstr("host memory")));

  const Machine consumer{.name = "4 nodes of one 3090",
                         .nodes = 4,
                         .gpus_per_node = 1,
                         .gpu = Gpu{"RTX 3090"},
                         .inter = InterLink{.kind = InterKind::roce, .rate = BytesPerSecond{12.5e9}}};
  const Network network = build_network(consumer, 4);
  EXPECT_EQ(network.ranks_per_node, 1);
  EXPECT_THAT(route_names(network, 0, 1), Contains("node 0: host memory of socket 0"));
}

TEST(Cluster, SixtyFiveThousandRanksTakeMemoryInProportion) {
  Machine machine = two_node_machine(8);
  machine.nodes = 8192;
  const Network network = build_network(machine, 65536);
  EXPECT_EQ(network.num_ranks, 65536);
  EXPECT_EQ(network.ranks_per_node, 8);
  // Per node: 16 of NVLink, 16 of slots, 16 of NICs, and a host bridge.
  EXPECT_EQ(network.topology->links().size(), 8192U * 49);
  EXPECT_THAT(route_names(network, 65535, 0), ElementsAre("node 8191: GPU 7 PCIe up", "node 8191: NIC 7 out",
                                                          "node 0: NIC 0 in", "node 0: GPU 0 PCIe down"));
}

TEST(Cluster, OneNodeOfVeryManyRanksTakesMemoryInProportionToo) {
  Machine machine = test::nvswitch_machine();
  machine.gpus_per_node = std::nullopt;
  EXPECT_EQ(build_network(machine, 65536).topology->links().size(), 2U * 65536);
  EXPECT_TRUE(build_network(test::custom_machine(), 65536).uniform);
  Machine pairs = test::custom_machine();
  pairs.nodes = 2;
  pairs.intra->ports = Ports::all;
  pairs.inter = InterLink{.latency = Seconds{1e-6}, .bandwidth = BytesPerSecond{1e9}};
  EXPECT_THAT(test::error_of(pairs, 65536), HasSubstr("every pair of 32768 GPUs"));
}

// Two leaves of 4 ranks with 2 uplinks each. Rank 0 to 4 and 6 takes uplink 0, to 5 and 7 uplink 1.
TEST(FatTree, SharesItsUplinks) {
  const Network network = fat_tree_network({.num_ranks = 8,
                                            .ranks_per_leaf = 4,
                                            .num_uplinks = 2,
                                            .port = {.latency = {1e-6}, .capacity = {10e9}},
                                            .uplink = {.latency = {0.5e-6}, .capacity = {10e9}}});
  EXPECT_THAT(route_names(network, 0, 3), ElementsAre("rank 0 up", "rank 3 down"));
  EXPECT_THAT(route_names(network, 0, 5),
              ElementsAre("rank 0 up", "leaf 0 uplink 1 up", "leaf 1 uplink 1 down", "rank 5 down"));
  EXPECT_DOUBLE_EQ(test::latency_us(network, 0, 5), 3);
  const auto shift = crossings(network, {{0, 4}, {1, 5}, {2, 6}, {3, 7}});
  EXPECT_EQ(shift.at("leaf 0 uplink 0 up"), 2);
  EXPECT_EQ(shift.at("leaf 0 uplink 1 up"), 2);
  const auto ring = crossings(network, ring_flows(network));
  EXPECT_EQ(ring.at("leaf 0 uplink 0 up"), 1);
  EXPECT_EQ(ring.count("leaf 0 uplink 1 up"), 0U);
}

TEST(FatTree, MayHaveAnUnfilledLeaf) {
  const Network network = fat_tree_network({.num_ranks = 5,
                                            .ranks_per_leaf = 2,
                                            .num_uplinks = 1,
                                            .port = {.capacity = {10e9}},
                                            .uplink = {.capacity = {10e9}}});
  EXPECT_THAT(route_names(network, 4, 0),
              ElementsAre("rank 4 up", "leaf 2 uplink 0 up", "leaf 0 uplink 0 down", "rank 0 down"));
  EXPECT_ANY_THROW(fat_tree_network({.num_ranks = 5, .port = {.capacity = {10e9}}}));
}

NicUse nics_used(const std::string& algorithm, int num_nics) {
  const PointKey key = {
      .collective = Collective::all_reduce, .algorithm = algorithm, .ranks = 16, .bytes = {1 << 24}};
  return std::get<Prediction>(predict(two_node_machine(num_nics), key, {})).nics.value();
}

TEST(Cluster, OneRingLeavesANodeThroughOneNicAndHierarchicalThroughAll) {
  EXPECT_EQ(nics_used("ring", 8), (NicUse{.used = 1, .of = 8}));
  EXPECT_EQ(nics_used("ring", 4), (NicUse{.used = 1, .of = 4}));
  EXPECT_EQ(nics_used("ring", 16), (NicUse{.used = 2, .of = 16})) << "two NICs per GPU are used together";
  EXPECT_EQ(nics_used("hierarchical", 8), (NicUse{.used = 8, .of = 8}));
  const PointKey inside = {
      .collective = Collective::all_reduce, .algorithm = "ring", .ranks = 8, .bytes = {1 << 24}};
  EXPECT_FALSE(std::get<Prediction>(predict(two_node_machine(8), inside, {})).nics);
}

TEST(Cluster, ProbedOnTwoNodesHasAsManyAsTheRanksNeed) {
  Machine probed;
  probed.gpus_per_node = 2;
  probed.calibrated = Calibrated{.latency = {9e-6},
                                 .bandwidth = {6e9},
                                 .reduction = {0.2e-9},
                                 .between_nodes = BetweenNodes{.latency = {50e-6}, .bandwidth = {1e9}}};
  Machine stated;
  stated.gpus_per_node = 2;
  stated.intra = IntraLink{
      .latency = Seconds{9e-6}, .bandwidth = BytesPerSecond{6e9}, .reduction = SecondsPerByte{0.2e-9}};
  stated.inter = InterLink{.latency = Seconds{50e-6}, .bandwidth = BytesPerSecond{1e9}};
  for (const int nodes : {1, 2, 8}) {
    stated.nodes = nodes;
    const Network network = build_network(probed, 2 * nodes);
    EXPECT_EQ(network.source, CostSource::calibrated);
    EXPECT_EQ(network.ranks_per_node, nodes > 1 ? 2 : 0);
    for (const char* algorithm : {"naive", "ring", "hierarchical", "halving_doubling"}) {
      const PointKey key = {.algorithm = algorithm, .ranks = 2 * nodes, .bytes = {1 << 20}};
      EXPECT_EQ(std::get<Prediction>(simulate(probed, key, {})).seconds,
                std::get<Prediction>(simulate(stated, key, {})).seconds)
          << nodes << " nodes, " << algorithm;
    }
  }
}

TEST(Cluster, ExchangesOfMpisOwnCollectivesTakeAsMuchLongerAsProbed) {
  Machine probed;
  probed.gpus_per_node = 2;
  probed.software.mpi = "Open MPI 4.1.4";
  probed.calibrated = Calibrated{
      .latency = {1e-9},
      .bandwidth = {1e15},
      .reduction = {},
      .between_nodes =
          BetweenNodes{.latency = {1e-9},
                       .bandwidth = {1e9},
                       .bandwidth_interval = Interval<double>{.low = 0.8e9, .typical = 1e9, .high = 1.2e9}},
      .backend = "mpi"};
  probed.calibrated->latency_interval = Interval<double>{.low = 1e-9, .typical = 1e-9, .high = 1e-9};
  const auto native = [&](std::int64_t bytes) {
    return std::get<Prediction>(
        simulate(probed, {.algorithm = "native", .ranks = 8, .bytes = {bytes}}, {.interval = true}));
  };
  const Prediction before = native(1 << 24);
  const Prediction short_before = native(128 << 10);
  BetweenNodes& between = *probed.calibrated->between_nodes;
  between.native_exchange = 2;
  between.native_exchange_interval = Interval<double>{.low = 1.5, .typical = 2, .high = 4};
  const Prediction after = native(1 << 24);
  EXPECT_NEAR(after.seconds.value / before.seconds.value, 2, 0.01);
  EXPECT_NEAR(after.low->value / before.low->value, 1.5, 0.01);
  EXPECT_NEAR(after.high->value / before.high->value, 4, 0.01);
  EXPECT_EQ(native(128 << 10).seconds, short_before.seconds) << "parts of 32 KiB are sent unasked";
  between.native_exchange = 1;
  const double middle = native(256 << 10).seconds.value;
  between.native_exchange = 2;
  EXPECT_NEAR(native(256 << 10).seconds.value / middle, 5.0 / 3, 0.02) << "of parts of 64 and 32 KiB";
  // A ring's ranks send to one and receive from another; ours asks nobody.
  between.native_exchange_interval.reset();
  for (const char* algorithm : {"ring", "halving_doubling"}) {
    const PointKey ours = {.algorithm = algorithm, .ranks = 8, .bytes = {1 << 24}};
    const Prediction with = std::get<Prediction>(simulate(probed, ours, {}));
    between.native_exchange = 1;
    EXPECT_EQ(with.seconds, std::get<Prediction>(simulate(probed, ours, {})).seconds) << algorithm;
    between.native_exchange = 2;
  }
}

TEST(Cluster, TheWayBetweenNodesHasAnIntervalOfItsOwn) {
  Machine probed;
  probed.gpus_per_node = 2;
  probed.calibrated = Calibrated{.latency = {9e-6}, .bandwidth = {6e9}, .reduction = {0.2e-9}};
  BetweenNodes& between =
      probed.calibrated->between_nodes.emplace(BetweenNodes{.latency = {50e-6}, .bandwidth = {1e9}});
  between.bandwidth_interval = Interval<double>{.low = 0.5e9, .typical = 1e9, .high = 2e9};
  probed.calibrated->latency_interval = Interval<double>{.low = 9e-6, .typical = 9e-6, .high = 9e-6};
  const auto prediction = std::get<Prediction>(
      simulate(probed, {.algorithm = "ring", .ranks = 8, .bytes = {1 << 28}}, {.interval = true}));
  EXPECT_NEAR(prediction.high->value / prediction.seconds.value, 2, 0.05);
  EXPECT_NEAR(prediction.seconds.value / prediction.low->value, 2, 0.1);
}

}  // namespace
}  // namespace ringside
