#include "real/backend/gpus.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "real/backend/backends.hpp"
#include "real/measure/measure.hpp"
#include "real/measure/memory_check.hpp"

namespace ringside {
namespace {

using ::testing::HasSubstr;

GpuMachine complete_machine() {
  return {.built = true,
          .cuda_built = "13.0",
          .nccl_built = "2.28.9",
          .driver_loaded = true,
          .driver = "580.1",
          .cuda_of_driver = "13.0",
          .nccl_version = 22809,
          .nccl_library = "/lib/libnccl.so.2",
          .gpus = {GpuFacts{.model = "H200", .memory = {1000}}}};
}

std::string missing(const GpuMachine& machine) { return missing_for_nccl(machine).value_or("nothing"); }

TEST(Gpus, OneSentenceSaysWhichOfAllIsMissing) {
  GpuMachine machine = complete_machine();
  EXPECT_EQ(missing(machine), "nothing");

  machine.nccl_version = 21800;
  EXPECT_EQ(missing(machine), "nothing");
  machine.nccl_version = 21799;
  EXPECT_EQ(missing(machine), "NCCL 2.17.99 (/lib/libnccl.so.2) is too old; 2.18.0 or later is needed");
  machine.nccl_version = std::nullopt;
  machine.nccl_library = "the library of NCCL was not found";
  EXPECT_EQ(missing(machine), "the library of NCCL was not found");
  machine.gpus.clear();
  EXPECT_EQ(missing(machine), "the NVIDIA driver is loaded but finds no GPU");
  machine.cuda_of_driver = "12.4";
  machine.trouble = "driver version is insufficient";
  EXPECT_EQ(missing(machine),
            "the NVIDIA driver, which runs CUDA up to 12.4, is of no use to this build for CUDA 13.0: driver "
            "version is insufficient");
  machine.driver_loaded = false;
  EXPECT_EQ(missing(machine), "no NVIDIA driver is loaded on this machine");
  EXPECT_EQ(missing({}),
            "this build has no nccl backend; build where the CUDA Toolkit (12 or later) and NCCL (2.18 or "
            "later) are installed");
}

TEST(Gpus, PciePathsAreNamedByTheFarthestPartThatTheyCross) {
  const struct {
    int level;
    std::string kind;
  } table[] = {{0, "PCIe switch"},
               {20, "PCIe switch"},
               {21, "PCIe host bridge"},
               {30, "PCIe host bridge"},
               {31, "PCIe between host bridges"},
               {40, "PCIe between host bridges"},
               {41, "PCIe inter-socket link"},
               {50, "PCIe inter-socket link"}};
  for (const auto& row : table) {
    EXPECT_EQ(pcie_kind(row.level), row.kind) << row.level;
  }
}

TEST(Gpus, FewerThanRanksIsSaidWithBothNumbers) {
  EXPECT_EQ(too_few_gpus(2, 4, 2), std::nullopt);
  EXPECT_EQ(
      too_few_gpus(1, 4, 2),
      "4 ranks need 2 GPUs, but this machine has 1; --ranks-per-gpu K puts several on one GPU, for trying "
      "it out");
}

TEST(Gpus, MemoryIsCountedWhereTheRanksAre) {
  const PointKey key = {.algorithm = "ring", .ranks = 4, .bytes = {1 << 20}};
  const Bytes rank = memory_of_rank(key, 0);
  std::vector<GpuFacts> gpus(2, GpuFacts{.model = "H200", .memory = {1LL << 40}, .free = {{2 * rank.value}}});
  EXPECT_NO_THROW(require_gpu_memory(key, 2, gpus));
  gpus[1].free = {{2 * rank.value - 1}};
  try {
    require_gpu_memory(key, 2, gpus);
    FAIL() << "ranks 2 and 3 do not fit on GPU 1";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::environment);
    EXPECT_THAT(error.what(), HasSubstr("on GPU 1 (H200)"));
  }
  EXPECT_THROW(require_gpu_memory(key, 1, gpus), Error) << "two GPUs for four ranks";
}

TEST(Gpus, WhatThisMachineHasIsToldWithoutThrowing) {
  const GpuMachine machine = gpu_machine();
  EXPECT_EQ(missing_for_nccl(machine), registered(Backend::nccl).unavailable());
  if (!machine.driver_loaded) {
    EXPECT_TRUE(machine.gpus.empty());
  }
}

}  // namespace
}  // namespace ringside
