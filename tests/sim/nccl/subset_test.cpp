#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/units.hpp"
#include "scenario/scenario.hpp"
#include "sim/nccl/model.hpp"
#include "sim/predict.hpp"

/// Ranks on some of a node's GPUs.
namespace ringside {
namespace {

constexpr std::int64_t kGi = 1024L * 1024 * 1024;

Machine machine(const std::string& yaml) { return parse_machine(yaml, "test"); }

NcclSystem system_of(const Machine& where, int ranks) {
  return std::get<NcclSystem>(nccl_system(where, ranks));
}

Prediction native(const Machine& where, int ranks) {
  const PointKey key = {
      .collective = Collective::all_reduce, .algorithm = "native", .ranks = ranks, .bytes = {kGi}};
  return std::get<Prediction>(predict(where, key, {.backend = Backend::nccl}));
}

Machine mi300x() {
  return machine(
      "gpus_per_node: 8\ngpu: {model: MI300X}\nintra: {kind: xgmi, generation: 4, links_per_gpu: 7}\n");
}

Machine h100_nodes() {
  return machine(
      "nodes: 2\ngpus_per_node: 8\ngpu: {model: H100-SXM}\nintra: {kind: nvlink, generation: 4, switch: "
      "true}\n"
      "inter: {kind: infiniband, rate: 400 Gb/s, nics: 8}\n");
}

TEST(Subset, TwoOfEightOnAMeshUseOneLink) {
  EXPECT_DOUBLE_EQ(system_of(mi300x(), 2).link_rate, 64);
  EXPECT_DOUBLE_EQ(system_of(mi300x(), 4).link_rate, 3 * 64);
  EXPECT_DOUBLE_EQ(system_of(mi300x(), 8).link_rate, 7 * 64);
  EXPECT_LT(kGi / native(mi300x(), 2).low->value, 64 * kGiga);
}

TEST(Subset, TwoBridgedCardsHaveTheirBridge) {
  const auto pair = [](const std::string& gpus, const std::string& links) {
    return machine("gpus_per_node: " + gpus +
                   "\ngpu: {model: H100-PCIe}\nintra: {kind: nvlink, generation: 4, " + links +
                   "wiring: bridge_pairs}\n");
  };
  EXPECT_DOUBLE_EQ(system_of(pair("2", ""), 2).link_rate, 300);
  EXPECT_DOUBLE_EQ(system_of(pair("4", ""), 2).link_rate, 300) << "the bridge, and no PCIe";
  EXPECT_DOUBLE_EQ(system_of(pair("2", "links_per_gpu: 4, "), 2).link_rate, 100);
  const auto why = [](const Machine& where) { return native(where, 2).limits.at(1).text; };
  EXPECT_THAT(why(pair("2", "")), testing::HasSubstr("if all 12 links of the pair are bridged"));
  EXPECT_THAT(why(pair("2", "links_per_gpu: 4, ")), testing::Not(testing::HasSubstr("bridged")));
}

TEST(Subset, TwoGpusOfADgx1UseTheirTwoLinks) {
  const Machine dgx1 = machine(
      "gpus_per_node: 8\ngpu: {model: V100-SXM2}\nintra: {kind: nvlink, generation: 2, links_per_gpu: 6, "
      "wiring: "
      "hybrid_cube_mesh}\n");
  EXPECT_DOUBLE_EQ(system_of(dgx1, 2).link_rate, 2 * 25);
  EXPECT_DOUBLE_EQ(system_of(dgx1, 4).link_rate, 4 * 25);
  EXPECT_DOUBLE_EQ(system_of(dgx1, 8).link_rate, 6 * 25);
  Machine half = dgx1;
  half.gpus_per_node = 4;
  EXPECT_DOUBLE_EQ(system_of(half, 4).link_rate, 4 * 25);
}

TEST(Subset, ASwitchGivesAnyTwoAllTheirLinks) { EXPECT_DOUBLE_EQ(system_of(h100_nodes(), 2).link_rate, 450); }

TEST(Subset, MoreGpusThroughHostMemoryAreLessSure) {
  const Machine host = machine("gpus_per_node: 8\ngpu: {model: RTX 4090}\nintra: {kind: pcie}\n");
  EXPECT_DOUBLE_EQ(system_of(host, 2).uncertainty(), 1);
  EXPECT_DOUBLE_EQ(system_of(host, 4).uncertainty(), std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(system_of(host, 8).uncertainty(), std::sqrt(3.0));
  EXPECT_DOUBLE_EQ(system_of(h100_nodes(), 8).uncertainty(), 1);
}

TEST(Subset, NodesWithoutASwitchAndOldVersionsAreLessSure) {
  const auto unsure = [](const std::string& gpu_and_links) {
    return system_of(machine("gpus_per_node: 4\n" + gpu_and_links), 4).uncertainty();
  };
  const std::string switched = "gpu: {model: A100-SXM4-80GB}\nintra: {kind: nvlink, switch: true}\n";
  EXPECT_DOUBLE_EQ(unsure(switched), 1);
  EXPECT_DOUBLE_EQ(unsure(switched + "software: {nccl: 2.9.6}\n"), 1);
  EXPECT_GT(unsure(switched + "software: {nccl: 2.8.4}\n"), 1.5);
  EXPECT_GT(unsure("gpu: {model: A100-SXM4-80GB}\nintra: {kind: nvlink}\n"), 1.5);
  EXPECT_GT(unsure("gpu: {model: MI300X}\nintra: {kind: xgmi, links_per_gpu: 6}\n"), 1.5);
}

TEST(Subset, RanksPerNodePlacesThem) {
  Machine spread = h100_nodes();
  spread.ranks_per_node = 4;
  const NcclSystem system = system_of(spread, 8);
  EXPECT_EQ(system.nodes, 2);
  EXPECT_EQ(system.nics, 4);
  EXPECT_DOUBLE_EQ(system.network_rate, 4 * 50);
  const PointKey ring = {
      .collective = Collective::all_reduce, .algorithm = "ring", .ranks = 8, .bytes = {kGi}};
  const auto seconds = [&](const Machine& where) {
    return std::get<Prediction>(predict(where, ring, {})).seconds.value;
  };
  EXPECT_GT(seconds(spread), 2 * seconds(h100_nodes()));
  EXPECT_EQ(placement_on(spread, 8).ranks_per_node, 4);
}

TEST(Subset, OneGpuPerNodeUsesNoMoreNicsThanItsSlotFeeds) {
  const Machine one = machine(
      "nodes: 2\ngpus_per_node: 1\ngpu: {model: H100-SXM}\n"
      "inter: {kind: infiniband, rate: 400 Gb/s, nics: 8}\n");
  EXPECT_LT(system_of(one, 2).network_rate, 64);
  EXPECT_LT(kGi / native(one, 2).low->value, 64 * kGiga);
}

TEST(Subset, GpudirectIsWhatTheNetworkAndTheGpuCan) {
  const auto gpudirect = [](const std::string& gpu, const std::string& inter) {
    return system_of(
               machine("nodes: 2\ngpus_per_node: 1\ngpu: {model: " + gpu + "}\ninter: {" + inter + "}\n"), 2)
        .gpudirect;
  };
  EXPECT_TRUE(gpudirect("H100-SXM", "kind: infiniband, rate: 100 Gb/s"));
  EXPECT_FALSE(gpudirect("H100-SXM", "kind: ethernet, rate: 100 Gb/s"));
  EXPECT_FALSE(gpudirect("RTX 4090", "kind: infiniband, rate: 100 Gb/s"));
  EXPECT_TRUE(gpudirect("RTX 4090", "kind: ethernet, rate: 100 Gb/s, gpudirect: true"));
}

TEST(Subset, SlotsThatNobodyKnowsLimitNoNic) {
  const Machine unknown = machine(
      "nodes: 2\ngpus_per_node: 8\ngpu: {model: Zeta 9}\n"
      "intra: {kind: nvlink, generation: 5, links_per_gpu: 18, switch: true}\n"
      "inter: {kind: infiniband, rate: 1600 Gb/s, nics: 8}\n");
  EXPECT_DOUBLE_EQ(system_of(unknown, 16).network_rate, 8 * 200);
}

TEST(Subset, NativeIsNeverFasterThanItsLinks) {
  for (const Machine& where : {mi300x(), h100_nodes()}) {
    for (const int ranks : {2, 4, 8}) {
      const double least = nccl_least_seconds(system_of(where, ranks), Collective::all_reduce, kGi);
      EXPECT_GE(native(where, ranks).low->value, least) << ranks;
    }
  }
}

}  // namespace
}  // namespace ringside
