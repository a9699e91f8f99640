#include "scenario/machine/topology_matrix.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "scenario/scenario.hpp"

namespace ringside {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// nvidia-smi -L; nvidia-smi topo -m, of a machine with two bridged pairs on two sockets.
constexpr const char* kBridged = R"(GPU 0: NVIDIA A100 80GB PCIe (UUID: GPU-0)
	GPU0	GPU1	GPU2	GPU3	NIC0	CPU Affinity	NUMA Affinity	GPU NUMA ID
GPU0	 X 	NV12	SYS	SYS	NODE	0-23	0		N/A
GPU1	NV12	 X 	SYS	SYS	NODE	0-23	0		N/A
GPU2	SYS	SYS	 X 	NV12	SYS	24-47	1		N/A
GPU3	SYS	SYS	NV12	 X 	SYS	24-47	1		N/A
NIC0	NODE	NODE	SYS	SYS	 X

Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)
)";

/// A matrix whose cells a function of both GPUs gives.
template <typename Cell>
std::string matrix(int gpus, Cell cell) {
  std::string text = "\x1b[4m";
  for (int i = 0; i < gpus; ++i) {
    text += "\tGPU" + std::to_string(i);
  }
  text += "\tCPU Affinity\x1b[0m\n";
  for (int i = 0; i < gpus; ++i) {
    text += "GPU" + std::to_string(i);
    for (int j = 0; j < gpus; ++j) {
      text += "\t" + (i == j ? std::string(" X ") : std::string(cell(i, j)));
    }
    text += "\t0-23\n";
  }
  return text;
}

Machine machine_of(const std::string& text) {
  const Machine machine = machine_of_topology(text, "box", "A100-SXM4-40GB").machine;
  EXPECT_EQ(to_yaml(parse_machine(to_yaml(machine), "box")), to_yaml(machine));
  return machine;
}

std::string problem(const std::string& text, const std::optional<std::string>& gpu = "L40S") {
  try {
    machine_of_topology(text, "box", gpu);
  } catch (const Error& error) {
    return error.what();
  }
  return "no problem";
}

TEST(TopologyMatrix, BridgedPairsOnTwoSocketsWithTheirGpu) {
  const TopologyMachine read = machine_of_topology(kBridged, "box", std::nullopt);
  EXPECT_EQ(read.machine.gpus_per_node, 4);
  EXPECT_EQ(read.machine.gpu->model, "NVIDIA A100 80GB PCIe");
  EXPECT_EQ(
      read.machine.intra,
      (IntraLink{.kind = IntraKind::nvlink, .links_per_gpu = 12, .wiring = "bridge_pairs", .sockets = 2}));
  EXPECT_THAT(read.notes, ElementsAre(HasSubstr("the rate of its 1 NIC;")));
}

TEST(TopologyMatrix, AllPairsAlikeAreASwitchWhenNoGpuHasSoManyLinks) {
  const Machine board = machine_of(matrix(8, [](int, int) { return "NV12"; }));
  EXPECT_EQ(board.intra->nvswitch, true);
  EXPECT_EQ(board.intra->links_per_gpu, 12);
  const Machine mesh = machine_of(matrix(4, [](int, int) { return "NV4"; }));
  EXPECT_EQ(mesh.intra->nvswitch, false);
  EXPECT_EQ(mesh.intra->links_per_gpu, 12);
}

TEST(TopologyMatrix, SlotsSocketsAndSwitches) {
  const auto cell = [](int i, int j) { return i / 2 == j / 2 ? "PIX" : i / 4 == j / 4 ? "NODE" : "SYS"; };
  const Machine machine = machine_of(matrix(8, cell));
  EXPECT_EQ(machine.intra, (IntraLink{.kind = IntraKind::pcie, .gpus_per_switch = 2, .sockets = 2}));
  EXPECT_EQ(machine_of(matrix(4, [](int, int) { return "PHB"; })).intra,
            (IntraLink{.kind = IntraKind::pcie}));
}

TEST(TopologyMatrix, ACubeMeshIsKnown) {
  // DGX-1: links per pair from microsoft/msccl-tools.
  constexpr const char* kLinks[8] = {"02112000", "20210100", "12020020", "11200001",
                                     "20000211", "01002012", "00201102", "00011220"};
  const auto cell = [&](int i, int j) {
    return kLinks[i][j] == '0' ? "SYS" : kLinks[i][j] == '1' ? "NV1" : "NV2";
  };
  const Machine machine = machine_of(matrix(8, cell));
  EXPECT_EQ(machine.intra->wiring, "hybrid_cube_mesh");
  EXPECT_EQ(machine.intra->links_per_gpu, 6);
}

TEST(TopologyMatrix, WhatIsNoMatrixOrCutOrUnknownIsOneMessage) {
  EXPECT_THAT(problem("hello\n"), HasSubstr("holds no matrix"));
  EXPECT_THAT(problem(""), HasSubstr("holds no matrix"));
  const std::string whole = matrix(4, [](int, int) { return "SYS"; });
  EXPECT_THAT(problem(whole.substr(0, whole.find("GPU3\tSYS"))), HasSubstr("has the rows of 3 of 4 GPUs"));
  EXPECT_THAT(problem(whole.substr(0, whole.rfind("SYS"))), HasSubstr("the row of GPU3 is cut"));
  EXPECT_THAT(problem(whole.substr(0, whole.rfind(" X "))),
              HasSubstr("the row of GPU3 is cut: it has 3 of 4 columns"));
  EXPECT_THAT(problem(matrix(2, [](int, int) { return "SYS"; }) + whole),
              HasSubstr("holds a matrix of 2 GPUs and one of 4"));
  EXPECT_THAT(problem(whole, std::nullopt), HasSubstr("give --gpu MODEL"));
  EXPECT_THAT(
      problem(matrix(4, [](int i, int j) { return i + j == 3   ? "NV2"
                                                  : i + j == 1 ? "NV4"
                                                               : "SYS"; })),
      HasSubstr("`links`"));
}

TEST(TopologyMatrix, OldNamesMeanTheSame) {
  std::string old = kBridged;
  for (std::size_t at = old.find("NIC0"); at != std::string::npos; at = old.find("NIC0")) {
    old.replace(at, 4, "mlx5_0");
  }
  EXPECT_THAT(machine_of_topology(old, "box", std::nullopt).notes,
              ElementsAre(HasSubstr("the rate of its 1 NIC;")));
  const auto cell = [](int i, int j) { return i / 2 == j / 2 ? "PHB" : "SOC"; };
  EXPECT_EQ(machine_of(matrix(4, cell)).intra->sockets, 2) << "SYS before 2018";
}

TEST(TopologyMatrix, SeveralBridgesInARowAreASwitchToo) {
  const auto cell = [](int i, int j) { return i / 2 == j / 2 ? "PXB" : "PHB"; };
  EXPECT_EQ(machine_of(matrix(4, cell)).intra->gpus_per_switch, 2);
}

TEST(TopologyMatrix, EighteenLinksAreThoseOfOneGpu) {
  const Machine mesh = machine_of(matrix(4, [](int, int) { return "NV6"; }));
  EXPECT_EQ(mesh.intra->nvswitch, false);
  EXPECT_EQ(mesh.intra->links_per_gpu, 18);
}

TEST(TopologyMatrix, OldWordsAndCommentMarksAreRead) {
  const std::string matrix = "#\tGPU0\tGPU1\tCPU Affinity\n#GPU0\t X \tSOC\t0-5\n#GPU1\tSOC\t X \t6-11\n";
  EXPECT_TRUE(holds_topology_matrix(matrix));
  EXPECT_EQ(machine_of_topology(matrix, "x", "L40S").machine.intra->sockets, 2);
}

}  // namespace
}  // namespace ringside
