#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "real/backend/nccl/settings.hpp"
#include "real/system/posix.hpp"

namespace ringside {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

TEST(NcclSettings, VersionsReadAsPeopleWriteThem) {
  EXPECT_EQ(nccl_version_text(22809), "2.28.9");
  EXPECT_EQ(nccl_version_text(21805), "2.18.5");
}

TEST(NcclSettings, RanksOnOneGpuLookLikeHostsToAnOldNccl) {
  EXPECT_THAT(settings_of_shared_gpu(22999, 3),
              ElementsAre(Pair("NCCL_HOSTID", "ringside-rank-3"), Pair("NCCL_MNNVL_ENABLE", "0"),
                          Pair("NCCL_NET", "Socket"), Pair("NCCL_SOCKET_IFNAME", "lo")));
  EXPECT_THAT(settings_of_shared_gpu(23000, 3), ElementsAre(Pair("NCCL_MULTI_RANK_GPU_ENABLE", "1")));
}

TEST(NcclSettings, RanksFillOneGpuAfterAnother) {
  EXPECT_EQ(gpu_of(0, 1), 0);
  EXPECT_EQ(gpu_of(3, 1), 3);
  EXPECT_EQ(gpu_of(1, 2), 0);
  EXPECT_EQ(gpu_of(2, 2), 1);
  EXPECT_EQ(gpus_needed(4, 1), 4);
  EXPECT_EQ(gpus_needed(5, 2), 3);
}

TEST(NcclSettings, OnlyNcclsOwnVariablesAreKept) {
  const char* const environment[] = {"HOME=/root", "NCCL_ALGO=Ring", "NCCL_DEBUG=", "MY_NCCL_X=1", nullptr};
  EXPECT_THAT(nccl_environment(environment), ElementsAre(Pair("NCCL_ALGO", "Ring"), Pair("NCCL_DEBUG", "")));
}

/// Files that look like installations of NCCL.
class NcclLibraries : public ::testing::Test {
 protected:
  std::string make(const std::string& file) {
    const std::filesystem::path path = directory_.path() / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << "x";
    return path.string();
  }

  std::vector<std::string> candidates() const {
    return nccl_library_candidates([this](const char* name) -> std::optional<std::string> {
      const auto found = environment_.find(name);
      return found == environment_.end() ? std::nullopt : std::optional(found->second);
    });
  }

  std::string folder(const std::string& name) const { return (directory_.path() / name).string(); }

  TemporaryDirectory directory_;
  std::map<std::string, std::string> environment_;
};

TEST_F(NcclLibraries, AreLookedForInThisOrder) {
  const auto wheel = [](const std::string& packages) { return packages + "/nvidia/nccl/lib/libnccl.so.2"; };
  const std::string venv = make(wheel("venv/lib/python3.12/site-packages"));
  const std::string conda = make(wheel("conda/lib/python3.11/site-packages"));
  const std::string debian = make(wheel("usr/lib/python3/dist-packages"));
  const std::string home = make(wheel("home/.local/lib/python3.10/site-packages"));
  make(wheel("venv/lib/python2.7/site-packages"));
  make("usr/bin/python3");
  make("venv/bin/python3");
  EXPECT_THAT(candidates(), ElementsAre("libnccl.so.2", "/usr/local/cuda/lib64/libnccl.so.2"));
  environment_ = {{"RINGSIDE_NCCL_LIBRARY", ""},
                  {"NCCL_HOME", "/opt/nccl"},
                  {"CUDA_HOME", "/usr/local/cuda"},
                  {"CUDA_PATH", ""},
                  {"VIRTUAL_ENV", folder("venv")},
                  {"CONDA_PREFIX", folder("conda")},
                  {"PATH", folder("nowhere") + "::" + folder("venv/bin") + ":" + folder("usr/bin")},
                  {"HOME", folder("home")}};
  EXPECT_THAT(candidates(), ElementsAre("libnccl.so.2", "/opt/nccl/lib64/libnccl.so.2",
                                        "/opt/nccl/lib/libnccl.so.2", "/usr/local/cuda/lib64/libnccl.so.2",
                                        "/usr/local/cuda/lib/libnccl.so.2", venv, conda, debian, home));
}

TEST_F(NcclLibraries, WhatTheUserNamesIsTheOnlyOne) {
  environment_["RINGSIDE_NCCL_LIBRARY"] = "/somewhere/libnccl.so.2";
  EXPECT_THAT(candidates(), ElementsAre("/somewhere/libnccl.so.2"));
}

TEST_F(NcclLibraries, TheWheelOfThePythonOnThePathIsFound) {
  make("venv/bin/python3");
  const std::string wheel = make("venv/lib/python3.12/site-packages/nvidia/nccl/lib/libnccl.so.2");
  const std::string debian = make("usr/lib/python3/dist-packages/nvidia/nccl/lib/libnccl.so.2");
  EXPECT_THAT(candidates(), Not(Contains(wheel)));
  environment_["PATH"] = folder("nowhere") + "::" + folder("venv/bin") + ":" + folder("usr/bin");
  EXPECT_THAT(candidates(), Contains(wheel));
  EXPECT_THAT(candidates(), Not(Contains(debian))) << "there is no python3 in usr/bin";
}

TEST_F(NcclLibraries, WheelsOfOneFolderComeInTheOrderOfTheirNames) {
  std::vector<std::string> wheels;
  for (const char* version : {"3.13", "3.10", "3.9", "3.12", "3.8", "3.11", "3.14", "3.15"}) {
    wheels.push_back(
        make(std::string("conda/lib/python") + version + "/site-packages/nvidia/nccl/lib/libnccl.so.2"));
  }
  std::ranges::sort(wheels);
  environment_["CONDA_PREFIX"] = folder("conda");
  std::vector<std::string> found = candidates();
  std::erase_if(found, [&](const std::string& path) { return !path.starts_with(folder("conda")); });
  EXPECT_EQ(found, wheels);
}

TEST(NcclNative, RefusesPartsOfDifferentSizes) {
  for (const Collective collective :
       {Collective::all_reduce, Collective::broadcast, Collective::reduce, Collective::send_recv}) {
    EXPECT_EQ(
        nccl_native_unsupported({.collective = collective, .algorithm = "native", .ranks = 3, .bytes = {40}}),
        std::nullopt);
  }
  for (const Collective collective :
       {Collective::all_gather, Collective::reduce_scatter, Collective::all_to_all}) {
    PointKey key = {.collective = collective, .algorithm = "native", .ranks = 3, .bytes = {40}};
    EXPECT_THAT(nccl_native_unsupported(key).value_or(""), HasSubstr("3 ranks do not divide 10 elements"));
    key.bytes = {48};
    EXPECT_EQ(nccl_native_unsupported(key), std::nullopt);
  }
  EXPECT_TRUE(nccl_native_unsupported(
      {.collective = Collective::gather, .algorithm = "native", .ranks = 2, .bytes = {48}}));
}

}  // namespace
}  // namespace ringside
