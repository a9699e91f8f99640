#include "import/machine/run_facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/anonymise.hpp"

namespace ringside {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(RunFacts, RanksHostsAndGpusOfTheListOfDevices) {
  const RunFacts facts = read_run_facts(
      "0: #  Rank  0 Group  0 Pid  10 on  node1 device  0 [0x0f] NVIDIA A100-SXM4-40GB\n"
      "0: #  Rank  1 Group  0 Pid  11 on  node2 device  0 [0x0f] NVIDIA A100-SXM4-40GB\n"
      "#\tRank\t2 on\tnode2 device\t1 [0000:05:00]\n");
  EXPECT_THAT(facts.gpus, ElementsAre("NVIDIA A100-SXM4-40GB", "NVIDIA A100-SXM4-40GB"));
  EXPECT_THAT(facts.hosts, ElementsAre("node1", "node2"));
  EXPECT_EQ(facts.processes.size(), 2U);
  EXPECT_EQ(facts.ranks, 3);
}

TEST(RunFacts, InfoLinesSayTransportsNicsAndSettings) {
  const RunFacts facts = read_run_facts(
      "h:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.0.0.1<0>\n"
      "h:1:2 [0] NCCL INFO Using network IB\n"
      "NCCL version 2.21.5+cuda12.4\n"
      "h:1:2 [0] NCCL INFO NCCL_ALGO set by environment to RING.\n"
      "h:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC\n"
      "h:1:2 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/direct/direct\n"
      "h:1:2 [0] NCCL INFO Channel 01/0 : 7[7] -> 8[0] [send] via NET/IB/0/GDRDMA\n"
      "h:1:2 [0] NCCL INFO Channel 01/0 : 7[7] -> 8[0] [send] via NET/Socket/0\n"
      "h:1:2 [0] NCCL INFO               + NET[25.0] - NET/0 (7a852d0003f6ceb8/1/25.000000)\n"
      "h:1:2 [0] NCCL INFO               + NET[12.5] - NET/1 (7a852d0003f6ceb9/1/12.500000)\n"
      "h:1:2 [0] NCCL INFO NVLS multicast support is not available on dev 0\n"
      "h:1:2 [0] NCCL INFO comm 0x1 rank 0 nRanks 16 nNodes 2 localRanks 8 localRank 0 MNNVL 0\n"
      "h:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 16 cudaDev 0 busId 41000 - Init COMPLETE\n");
  EXPECT_THAT(facts.nics, ElementsAre("mlx5_0:1/IB", "mlx5_1:1/RoCE"));
  EXPECT_EQ(facts.network, "IB");
  EXPECT_EQ(facts.nccl, "2.21.5");
  EXPECT_EQ(facts.settings.at("NCCL_ALGO").value, "RING");
  EXPECT_EQ(facts.settings.at("NCCL_ALGO").line, 4U);
  EXPECT_EQ(facts.peer_to_peer.line, 5U);
  EXPECT_EQ(facts.shared_memory.line, 6U);
  EXPECT_EQ(facts.gpudirect.line, 7U);
  EXPECT_EQ(facts.sockets.line, 8U);
  EXPECT_EQ(facts.without_gpudirect.count, 1);
  const std::map<std::string, double> nics = {{"NET/0", 25}, {"NET/1", 12.5}};
  EXPECT_EQ(facts.nic_rates.at("h"), nics);
  EXPECT_EQ(facts.no_nvls.count, 1);
  EXPECT_EQ(facts.nvls.count, 0);
  EXPECT_EQ(facts.nodes, 2);
  EXPECT_EQ(facts.ranks, 16);
}

TEST(RunFacts, ALineOfTheListThatIsCutNamesNoHost) {
  EXPECT_THAT(read_run_facts("#  Rank  0 device  0\n#  Rank  1 device  0 on\n").hosts, IsEmpty());
}

TEST(RunFacts, NvlsThatIsAvailableIsSeen) {
  const RunFacts facts = read_run_facts("h:1:2 [0] NCCL INFO NVLS multicast support is available on dev 0\n");
  EXPECT_EQ(facts.nvls.count, 1);
  EXPECT_EQ(facts.no_nvls.count, 0);
}

TEST(RunFacts, TheListSaysWhichRanksStandOnAHost) {
  const RunFacts facts = read_run_facts(
      "#  Rank  0 Group  0 Pid  10 on  node1 device  0 [0x0f] NVIDIA A100-SXM4-40GB\n"
      "#  Rank  1 Group  0 Pid  11 on  node2 device  0 [0x0f] NVIDIA A100-SXM4-40GB\n"
      "#  Rank  1 Group  0 Pid  12 on  node2 device  0 [0x0f] NVIDIA A100-SXM4-40GB\n");
  EXPECT_THAT(facts.ranks_of_host.at("node1"), ElementsAre(0));
  EXPECT_THAT(facts.ranks_of_host.at("node2"), ElementsAre(1)) << "a second run";
}

TEST(RunFacts, TheEndSaysWhetherTheResultsCount) {
  const std::string head = "# nThread 1 nGpus 8 minBytes 8 maxBytes 8\n";
  const std::string end = "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 12.3\n";
  EXPECT_FALSE(read_run_facts(head + end).incomplete());
  EXPECT_FALSE(read_run_facts(end).incomplete());
  EXPECT_TRUE(read_run_facts(head).incomplete());
  EXPECT_TRUE(read_run_facts(head + end + head).incomplete()) << "the second run was killed";
  EXPECT_THAT(read_run_facts(head + end).failures, IsEmpty());
  const auto failures =
      read_run_facts(
          "# Out of bounds values : 8 FAILED\n"
          "n1: Test NCCL failure common.cu:958 'remote process exited' \n"
          "n1:1:2 [0] NCCL WARN NET/IB : Got completion from peer 10.0.0.1<4> with error 12\n"
          "n1:1:2 [0] NCCL WARN Missing iommu=pt\n")
          .failures;
  EXPECT_THAT(failures,
              ElementsAre(testing::Pair(1, "line 1: Out of bounds values : 8 FAILED"),
                          testing::Pair(2, "line 2: Test NCCL failure common.cu:958 'remote process exited'"),
                          testing::Pair(3, testing::HasSubstr("line 3: NCCL WARN NET/IB : Got completion"))));
}

TEST(RunFacts, LaunchersExportSettings) {
  const RunFacts facts = read_run_facts(
      "+ mpirun -np 8 -x NCCL_P2P_DISABLE=1 -x NCCL_PROTO=\"LL\" env NCCL_ALGO=Tree ./all_reduce_perf\n");
  EXPECT_EQ(facts.settings.at("NCCL_P2P_DISABLE").value, "1");
  EXPECT_EQ(facts.settings.at("NCCL_ALGO").value, "Tree");
  EXPECT_THAT(read_run_facts("no MY_NCCL_ALGO=Ring here\n").settings, IsEmpty());
}

TEST(Anonymised, NamesOfHostsPeopleAndAddressesAreReplacedEverywhere) {
  const std::string text =
      "prterun-gpu-04-381@1 alice@login.example.org:/home/alice/nccl\n"
      "#  Rank  0 Group  0 Pid  10 on  gpu-04 device  0 [0000:05:00] NVIDIA L40S\n"
      "gpu-04:1:2 [0] NCCL INFO NET/Socket : Using [0]eth0:10.21.0.19<0> [1]ib0:fe80::1ff:fe23:4567:890a<0>\n"
      "gpu-05.cluster.local:1:2 [0] NCCL INFO NCCL version 2.18.3\n"
      "gpu-05 GPU-aabbccdd-0011-2233-4455-66778899aabb 02:42:ac:11:00:02\n"
      "  1048576        262144     float     sum      -1    101.4   10.34   10.34      0\n";
  EXPECT_EQ(anonymised(text),
            "prterun-host1-381@1 user1@login.example.org:/home/user1/nccl\n"
            "#  Rank  0 Group  0 Pid  10 on  host1 device  0 [0000:05:00] NVIDIA L40S\n"
            "host1:1:2 [0] NCCL INFO NET/Socket : Using [0]eth0:address1<0> [1]ib0:address2<0>\n"
            "host2:1:2 [0] NCCL INFO NCCL version 2.18.3\n"
            "host3 address3 address4\n"
            "  1048576        262144     float     sum      -1    101.4   10.34   10.34      0\n");
}

TEST(Anonymised, NamesThatAreGluedToARowAreReplacedToo) {
  EXPECT_EQ(
      anonymised(
          "38dcf168f605:1:2 [0] NCCL INFO x\n 1048576 float sum      -138dcf168f605:1:2 [0] NCCL INFO x\n"),
      "host1:1:2 [0] NCCL INFO x\n 1048576 float sum      -1host1:1:2 [0] NCCL INFO x\n");
}

}  // namespace
}  // namespace ringside
