#include "sim/nccl/transport.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

double peer_to_peer(const PcieQuestion& question) { return pcie_transport(question).peer_to_peer; }

TEST(PcieTransport, FollowsNcclsRuleByVersionCpuAndNumberOfGpus) {
  const auto likely = [](CpuVendor cpu, const char* version, int gpus) {
    PcieQuestion question;
    question.gpus = gpus;
    question.cpu = cpu;
    question.version = version;
    return peer_to_peer(question);
  };
  for (const int gpus : {2, 4, 8}) {
    EXPECT_EQ(likely(CpuVendor::amd, "2.22.3", gpus), 1) << gpus;
    EXPECT_EQ(likely(CpuVendor::intel, "2.22.3", gpus), 0) << gpus;
    EXPECT_EQ(likely(CpuVendor::intel, "2.27.3", gpus), 0) << gpus;
    EXPECT_EQ(likely(CpuVendor::amd, "2.27.3", gpus), gpus == 2 ? 1 : 0) << gpus;
    EXPECT_EQ(likely(CpuVendor::arm, "2.23.4", gpus), 0) << gpus;
  }
  EXPECT_EQ(likely(CpuVendor::amd, "2.23.3", 8), 1);
  EXPECT_EQ(likely(CpuVendor::amd, "2.23.4", 8), 0);
}

TEST(PcieTransport, WhatIsStatedAndWhatTheDriverRefusesCountMore) {
  PcieQuestion question;
  question.gpus = 8;
  question.cpu = CpuVendor::intel;
  question.stated = true;
  EXPECT_EQ(peer_to_peer(question), 1);
  question.stated.reset();
  question.driver_allows = false;
  question.cpu = CpuVendor::amd;
  question.version = "2.20.5";
  EXPECT_EQ(peer_to_peer(question), 0);
  EXPECT_THAT(pcie_transport(question).why, HasSubstr("driver refuses"));
}

TEST(PcieTransport, OneSwitchIsPeerToPeerEverywhere) {
  PcieQuestion question;
  question.gpus = 8;
  question.cpu = CpuVendor::intel;
  question.version = "2.27.3";
  question.same_switch = true;
  EXPECT_EQ(peer_to_peer(question), 1);
}

TEST(PcieTransport, WhatIsNotKnownIsAMixtureWithAQuestion) {
  PcieQuestion question;
  question.version = "2.27.3";
  const PcieTransport two = pcie_transport(question);
  EXPECT_GT(two.peer_to_peer, 0);
  EXPECT_LT(two.peer_to_peer, 1);
  EXPECT_THAT(two.question, HasSubstr("AMD"));
  question.gpus = 4;
  EXPECT_EQ(peer_to_peer(question), 0) << "more than two GPUs go through host memory on every CPU";
  question.version.reset();
  EXPECT_THAT(pcie_transport(question).question, HasSubstr("2.23.4"));
  question.cpu = CpuVendor::intel;
  EXPECT_THAT(pcie_transport(question).question, IsEmpty());
}

TEST(PcieTransport, TheNameOfACpuTellsItsVendor) {
  Machine machine;
  EXPECT_EQ(cpu_vendor(machine), std::nullopt);
  machine.cpu = Cpu{.vendor = {}, .model = "AMD EPYC 7763 64-Core Processor"};
  EXPECT_EQ(cpu_vendor(machine), CpuVendor::amd);
  machine.cpu->model = "Intel(R) Xeon(R) Platinum 8480+";
  EXPECT_EQ(cpu_vendor(machine), CpuVendor::intel);
  machine.cpu->model = "NVIDIA Grace";
  EXPECT_EQ(cpu_vendor(machine), CpuVendor::arm);
  machine.cpu->model = "a chip";
  EXPECT_EQ(cpu_vendor(machine), std::nullopt);
  machine.cpu->vendor = CpuVendor::other;
  EXPECT_EQ(cpu_vendor(machine), CpuVendor::other);
}

TEST(PcieTransport, VersionsCompareByTheirParts) {
  EXPECT_EQ(is_at_least("2.23.4", 2, 23, 4), true);
  EXPECT_EQ(is_at_least("2.23.3", 2, 23, 4), false);
  EXPECT_EQ(is_at_least("2.9", 2, 23, 4), false);
  EXPECT_EQ(is_at_least("2.27.3-1+cuda12.9", 2, 23, 4), true);
  EXPECT_EQ(is_at_least("3.0", 2, 23, 4), true);
  EXPECT_EQ(is_at_least("2", 2, 23, 4), std::nullopt);
  EXPECT_EQ(is_at_least("newest", 2, 23, 4), std::nullopt);
}

}  // namespace
}  // namespace ringside
