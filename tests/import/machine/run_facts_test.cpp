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

const std::string kInfo = "h:1:2 [0] NCCL INFO ";

TEST(RunFacts, EachTransportIsCountedWithItsFirstLine) {
  const RunFacts facts = read_run_facts(
      kInfo + "Ring 00 : 0[0] -> 1[1] via SHM/direct\n" + kInfo + "0[0] -> 1[1] via P2P/CUMEM\n" + kInfo +
      "Channel 00 : 0 -> 1 via NET/IB/0\n" + kInfo + "Channel 00 : 0 -> 1 via NET/Socket/1/GDRDMA\n" + kInfo +
      "Channel 01 : 0 -> 1 via P2P/IPC\n" + kInfo + "going via P2P/IPC\n" +
      "Channel 01 : 0 -> 1 via P2P/IPC\n");
  EXPECT_EQ(facts.shared_memory.line, 1U);
  EXPECT_EQ(facts.peer_to_peer.line, 2U);
  EXPECT_EQ(facts.peer_to_peer.count, 2);
  EXPECT_EQ(facts.without_gpudirect.line, 3U);
  EXPECT_EQ(facts.gpudirect.line, 4U);
  EXPECT_EQ(facts.sockets.count, 1);
  EXPECT_EQ(facts.sockets.line, 4U);
  EXPECT_EQ(facts.nvls.line, 0U);
}

TEST(RunFacts, NetworksAndNicsAreThoseThatNcclNames) {
  const RunFacts facts =
      read_run_facts(kInfo + "x\n" + kInfo + "Using network AWS Libfabric \r\n" + kInfo +
                     "NET/IB : Using [0]mlx5_0:1/IB nothing [1]x ; OOB [2]y:z<0>\n" + kInfo +
                     "    + NET[0.0] - NET/3 (x)\n" + kInfo + "    + NET[25.0] - \n" + kInfo +
                     "    + NET[12.5]\n" + kInfo + "    + NET[50.0] - NET/4 (x)\n");
  EXPECT_EQ(facts.network, "AWS Libfabric");
  EXPECT_EQ(facts.network_line, 2U);
  EXPECT_THAT(facts.nics, ElementsAre("mlx5_0:1/IB"));
  EXPECT_EQ(facts.nics_line, 3U);
  ASSERT_TRUE(facts.nic_rates.contains("h"));
  EXPECT_EQ(facts.nic_rates.at("h").count("NET/3"), 0U) << "no NIC is that slow";
  EXPECT_EQ(facts.nic_rates.at("h").at("NET/4"), 50);
}

TEST(RunFacts, NumbersOfRanksAndNodesHaveAMost) {
  const auto of = [](const std::string& line) { return read_run_facts(kInfo + line + "\n"); };
  EXPECT_EQ(of("nNodes 9999999").nodes, 9'999'999);
  EXPECT_EQ(of("nNodes 10000000").nodes, std::nullopt);
  EXPECT_EQ(of("nNodes 0").nodes, std::nullopt);
  EXPECT_EQ(of("nNodes 1").nodes, 1);
  EXPECT_EQ(of("comm 0x1 rank 0 nranks 9999999 cudaDev 0 - Init COMPLETE").ranks, 9'999'999);
  EXPECT_EQ(of("comm 0x1 rank 0 nranks 10000000 cudaDev 0 - Init COMPLETE").ranks, std::nullopt);
  EXPECT_EQ(of("comm 0x1 rank 0 nranks 8 cudaDev 0 - Init START").ranks, std::nullopt);
  EXPECT_EQ(read_run_facts("#  Rank  9999999 Pid 1 on n1 device 0\n").ranks, 10'000'000);
  EXPECT_EQ(read_run_facts("#  Rank  10000000 Pid 1 on n1 device 0\n").ranks, std::nullopt);
  EXPECT_EQ(read_run_facts("#  Rank  7 Pid 1 on n1 device 0\n#  Rank  3 Pid 1 on n1 device 0\n").ranks, 8);
  const RunFacts facts = read_run_facts(
      "#  Rank  0 Pid 17 on n1 device 0\n#  Rank  1 Pid 17 on n2 device 0\n#  Rank  2 on n3 device 0 Pid\n");
  EXPECT_THAT(facts.processes, ElementsAre("n1 17", "n2 17"));
  EXPECT_THAT(facts.gpus, IsEmpty());
}

TEST(RunFacts, SettingsEndWhereTheirValueDoes) {
  const auto value = [](const std::string& line) {
    const RunFacts facts = read_run_facts("x\n" + line + "\n");
    const auto found = facts.settings.find("NCCL_ALGO");
    return found == facts.settings.end() ? "-"
                                         : found->second.value + "@" + std::to_string(found->second.line);
  };
  EXPECT_EQ(value("export NCCL_ALGO=Ring"), "Ring@2");
  EXPECT_EQ(value("NCCL_ALGO=Ring ./all_reduce_perf"), "Ring@2");
  for (const char* end : {"\t1", "\r", ";x", "'", "\"x", "\\n"}) {
    EXPECT_EQ(value(std::string("'-x NCCL_ALGO=Ring") + end), "Ring@2") << end;
  }
  EXPECT_EQ(value("NCCL_ALGO="), "-");
  EXPECT_EQ(value("NCCL_ALGO"), "-");
  EXPECT_EQ(value("NCCL_ALGO Ring"), "-");
  EXPECT_EQ(value("0NCCL_ALGO=Ring"), "-");
  EXPECT_EQ(value("MY_NCCL_ALGO=Ring NCCL_ALGO=Tree"), "Tree@2");
  EXPECT_EQ(value(kInfo + "NCCL_ALGO set by environment to Tree.\\n"), "Tree@2");
  EXPECT_EQ(value(kInfo + "NCCL_ALGO set by environment to Tree"), "Tree@2");
  EXPECT_EQ(value(kInfo + "ALGO set by environment to NCCL_ALGO=Ring."), "-");
  EXPECT_EQ(read_run_facts("NCCL version 2.18.3+cuda12\nNCCL version 2.19.0\n").nccl, "2.18.3");
}

TEST(RunFacts, WhatFailedIsShownAsFarAsALineHolds) {
  const std::string long_text(300, 'x');
  const auto failures = read_run_facts("n1: Test CUDA failure " + long_text +
                                       "\nn1: Test NCCL failure a \t\r\n"
                                       "n1: NCCL WARN Got completion \"x\n")
                            .failures;
  EXPECT_THAT(failures,
              ElementsAre(testing::Pair(1, "line 1: Test CUDA failure " + long_text.substr(0, 160 - 18)),
                          testing::Pair(2, "line 2: Test NCCL failure a"),
                          testing::Pair(3, "line 3: NCCL WARN Got completion")));
  const RunFacts facts = read_run_facts(
      "nThread 1 nGpus 8\nnThread 1\nnGpus 8\n# Avg bus bandwidth : 1\n# Out of bounds values : 0 OK\n");
  EXPECT_EQ(facts.runs, 1);
  EXPECT_EQ(facts.average_lines, 1);
  EXPECT_EQ(facts.bounds_lines, 1);
  EXPECT_FALSE(facts.incomplete());
  EXPECT_TRUE(read_run_facts("").incomplete()) << "no run is no whole one";
}

TEST(Anonymised, AddressesHaveTheFormOfAddresses) {
  const auto is_address = [](const std::string& text) {
    return anonymised("x " + text + " y") == "x address1 y";
  };
  for (const char* address :
       {"10.0.0.1", "255.255.255.255", "0.0.0.0", "fe80::1", "::ffff", "1:2:3:4:5:6:7:8", "02:42:ac:11:00:02",
        "GPU-aabbccdd-0011-2233-4455-66778899aabb"}) {
    EXPECT_TRUE(is_address(address)) << address;
  }
  for (const char* other : {"10.0.0", "10.0.0.256", "10.0.0.1000", "10.0.0.1x", "10.0..1", "1:2:3",
                            "12:30:01", "::", "a:b", "1:2:3:4:5:6:7", "02:42:ac:11:00:2", "fe80::1g",
                            "GPU-aabbccdd-0011-2233-4455-66778899aab", "GPU-x"}) {
    EXPECT_EQ(anonymised("x " + std::string(other) + " y"), "x " + std::string(other) + " y") << other;
  }
  EXPECT_EQ(anonymised("10.0.0.1:22 10.0.0.2 10.0.0.1"), "address1:22 address2 address1");
  EXPECT_EQ(anonymised("10.0.0.1"), "address1");
}

TEST(Anonymised, PeopleAreNamedInPathsAndBeforeHosts) {
  for (const char* path : {"/home/", "/Users/", "/users/", "/home/users/"}) {
    EXPECT_EQ(anonymised(std::string("a ") + path + "alice/x alice"),
              std::string("a ") + path + "user1/x user1")
        << path;
  }
  EXPECT_EQ(anonymised("/home/al/x al"), "/home/al/x al") << "too short for a name";
  EXPECT_EQ(anonymised("/home/$USER /home/USER/x USER"), "/home/$USER /home/USER/x USER");
  EXPECT_EQ(anonymised("bob@node1 bob"), "user1@node1 user1");
  EXPECT_EQ(anonymised("root@node1 root"), "root@node1 root");
  EXPECT_EQ(anonymised("al@node1 al"), "al@node1 al");
  EXPECT_EQ(anonymised("123@node1 123"), "123@node1 123");
  EXPECT_EQ(anonymised("bob@1 bob"), "bob@1 bob");
  EXPECT_EQ(anonymised("bob@ bob"), "bob@ bob");
  EXPECT_EQ(anonymised("a.b-c@x a.b-c"), "user1@x user1");
}

TEST(Anonymised, HostsAreThoseThatLinesOfNcclBeginWith) {
  const auto line = [](const std::string& host, const char* rest = ":1:2 [0] NCCL INFO x") {
    return host + rest + " " + host;
  };
  EXPECT_EQ(anonymised(line("gpu-04")), "host1:1:2 [0] NCCL INFO x host1");
  EXPECT_EQ(anonymised(line("n1", ":1:2 [0] NCCL WARN x")), "host1:1:2 [0] NCCL WARN x host1");
  EXPECT_EQ(anonymised("a\tn1:1:2 [12] NCCL INFO n1x xn1"), "a\thost1:1:2 [12] NCCL INFO n1x xn1");
  EXPECT_EQ(anonymised("longer:1:2 [0] NCCL INFO xlonger"), "host1:1:2 [0] NCCL INFO xhost1")
      << "nothing else looks like it";
  EXPECT_EQ(anonymised("short:1:2 [0] NCCL INFO xshort"), "host1:1:2 [0] NCCL INFO xshort");
  for (const auto& [host, rest] : {std::pair("n", ":1:2 [0] NCCL INFO x"),
                                   {"n1", ":1 [0] NCCL INFO x"},
                                   {"n1", ":1:2:3 [0] NCCL INFO x"},
                                   {"n1", ":1:2 [0]            NCCL INFO x"},
                                   {"n1", ":1:2 NCCL INFO x"},
                                   {"localhost", ":1:2 [0] NCCL INFO x"},
                                   {"n(1", ":1:2 [0] NCCL INFO x"}}) {
    EXPECT_EQ(anonymised(line(host, rest)), line(host, rest)) << host << rest;
  }
  EXPECT_EQ(anonymised(" [0] NCCL INFO x"), " [0] NCCL INFO x");
  EXPECT_EQ(anonymised("node1.site.org:1:2 [0] NCCL INFO node1 node1.site.org"),
            "host1:1:2 [0] NCCL INFO host2 host1");
  EXPECT_EQ(anonymised("n.site.org:1:2 [0] NCCL INFO n n.site.org"), "host1:1:2 [0] NCCL INFO n host1");
}

}  // namespace
}  // namespace ringside
