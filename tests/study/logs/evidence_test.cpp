#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/machine/run_facts.hpp"
#include "study/logs/check.hpp"

namespace ringside::study {
namespace {

TEST(Evidence, EveryLineOfALogSpeaksForOrAgainstACause) {
  const struct {
    std::string line;
    Cause cause;
    std::optional<bool> speaks_for;  // Absent: it says nothing.
  } cases[] = {
      {"NCCL_P2P_DISABLE set by environment to 1.", Cause::peer_to_peer_off, true},
      {"NCCL_P2P_DISABLE set by environment to 0.", Cause::peer_to_peer_off, {}},
      {"NCCL_NVLS_ENABLE set by environment to 0.", Cause::nvls_off, true},
      {"NCCL_IB_DISABLE set by environment to 1.", Cause::tcp, true},
      {"NCCL_NET set by environment to Socket.", Cause::tcp, true},
      {"NCCL_NET_GDR_LEVEL set by environment to 0.", Cause::gpudirect_off, true},
      {"NCCL_NET_GDR_LEVEL set by environment to LOC.", Cause::gpudirect_off, true},
      {"NCCL_ALGO set by environment to Ring.", Cause::algorithm_ring, true},
      {"NCCL_ALGO set by environment to Ring.", Cause::nvls_off, true},
      {"NCCL_ALGO set by environment to ^NVLS.", Cause::nvls_off, true},
      {"NCCL_ALGO set by environment to ^NVLS,NVLSTree.", Cause::nvls_off, true},
      {"NCCL_ALGO set by environment to Tree.", Cause::algorithm_tree, true},
      {"NCCL_PROTO set by environment to LL.", Cause::protocol_ll, true},
      {"NCCL_PROTO set by environment to LL128.", Cause::protocol_ll128, true},
      {"NCCL_PROTO set by environment to Simple.", Cause::protocol_simple, true},
      {"Channel 00 : 0[0] -> 1[1] via SHM/direct/direct", Cause::peer_to_peer_off, true},
      {"Channel 00/0 : 0[0] -> 1[1] via P2P/IPC", Cause::peer_to_peer_off, false},
      {"NVLS multicast support is available on dev 0", Cause::nvls_off, false},
      {"NVLS multicast support is not available on dev 0", Cause::nvls_off, true},
      {"Using network Socket", Cause::tcp, true},
      {"Using network IB", Cause::tcp, false},
      {"Channel 00/0 : 7[7] -> 8[0] [send] via NET/Socket/0", Cause::tcp, true},
      {"Channel 00/0 : 7[7] -> 8[0] [send] via NET/Socket/0", Cause::gpudirect_off, {}},
      {"Channel 00/0 : 7[7] -> 8[0] [send] via NET/IB/0/GDRDMA", Cause::tcp, false},
      {"Channel 00/0 : 7[7] -> 8[0] [send] via NET/IB/0/GDRDMA", Cause::gpudirect_off, false},
      {"Channel 00/0 : 7[7] -> 8[0] [send] via NET/IB/0", Cause::gpudirect_off, true},
      {"NET/IB : Using [0]mlx5_0:1/IB [RO]", Cause::one_nic, true},
      {"NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]", Cause::half_nics, true},
      {"NET/IB : Using [0]a:1/IB [1]b:1/IB [2]c:1/IB [3]d:1/IB", Cause::half_nics, false},
      {"NET/IB : Using [0]a:1/IB [1]b:1/IB [2]c:1/IB [3]d:1/IB", Cause::one_nic, false},
      {"nothing", Cause::one_nic, {}},
  };
  Machine machine;
  machine.inter = InterLink{.nics = 4};
  for (const auto& one : cases) {
    const auto said = [&](const std::string& nodes) -> std::optional<bool> {
      const auto all = evidence_of(read_run_facts("h:1:2 [0] NCCL INFO comm nNodes " + nodes +
                                                  "\nh:1:2 [0] NCCL INFO " + one.line + "\n"),
                                   machine);
      const auto found =
          std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.cause == one.cause; });
      if (found == all.end()) {
        return {};
      }
      EXPECT_THAT(found->sentence, testing::StartsWith("line 2: ")) << one.line;
      return found->speaks_for;
    };
    EXPECT_EQ(said("2"), one.speaks_for) << one.line;
    if (one.line.find("NET/") != std::string::npos || one.line.find("network") != std::string::npos) {
      EXPECT_EQ(said("1"), std::nullopt) << "nothing goes through a network: " << one.line;
    }
  }
}

TEST(Evidence, AListOfRanksShowsWhetherOneProcessLaunchesThemAll) {
  const auto speaks_for = [](const std::string& second) -> std::optional<bool> {
    const auto all = evidence_of(
        read_run_facts("#  Rank  0 Group  0 Pid  10 on  node1 device  0 [0x0f] NVIDIA A100-SXM4-40GB\n" +
                       second),
        {});
    return all.empty() ? std::optional<bool>() : all.front().speaks_for;
  };
  EXPECT_EQ(speaks_for(""), std::nullopt);
  EXPECT_EQ(speaks_for("#  Rank  1 Group  0 Pid  10 on  node1 device  1 [0x10] NVIDIA A100-SXM4-40GB\n"),
            true);
  EXPECT_EQ(speaks_for("#  Rank  1 Group  0 Pid  11 on  node1 device  1 [0x10] NVIDIA A100-SXM4-40GB\n"),
            false);
}

}  // namespace
}  // namespace ringside::study
