#include "real/measure/memory_check.hpp"

#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/error.hpp"
#include "real/launch/rank_limits.hpp"
#include "real/system/this_machine.hpp"

namespace ringside {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::int64_t kMiB = 1 << 20;

TEST(MemoryCheck, CountsMessagesScratchAndArrivalsOfAllRanks) {
  // The root of naive has room for one arriving message.
  EXPECT_EQ(memory_of_point({.algorithm = "naive", .ranks = 4, .bytes = {kMiB}}).value, 5 * kMiB);
  // Every rank of a ring for all three chunks that it reduces, where these are short.
  EXPECT_EQ(memory_of_point({.algorithm = "ring", .ranks = 4, .bytes = {kMiB}}).value, 7 * kMiB);
  // tutorial_ring has two more buffers.
  EXPECT_EQ(memory_of_point({.algorithm = "tutorial_ring", .ranks = 2, .bytes = {kMiB}}).value, 6 * kMiB);
}

TEST(MemoryCheck, RefusesWhatDoesNotFitWithBothNumbers) {
  const PointKey key = {.algorithm = "ring", .ranks = 4, .bytes = {100'000'000'000}};
  try {
    require_memory(key, {23'456'000'000});
    FAIL() << "500 GB do not fit into 23";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::environment);
    EXPECT_STREQ(
        error.what(),
        "all_reduce ring, 4 ranks, 100 GB needs 500.0 GB of memory (messages and scratch of all ranks), "
        "but only 23.5 GB is available");
  }
  const Bytes needed = memory_of_point(key);
  EXPECT_NO_THROW(require_memory(key, needed));
  EXPECT_THROW(require_memory(key, {needed.value - 1}), Error);
}

TEST(MemoryCheck, IsKnownAtOnceForManyRanks) {
  // Each of 1,024 programs would take as long as all of them together do now.
  const PointKey few = {.algorithm = "ring", .ranks = 64, .bytes = {64 << 10}};
  const PointKey many = {.algorithm = "ring", .ranks = 1024, .bytes = {64 << 10}};
  EXPECT_GE(memory_of_point(many).value, std::int64_t{1024} * (64 << 10));
  EXPECT_LE(memory_of_point(many).value / 1024, memory_of_point(few).value / 64 * 2);
}

TEST(MemoryCheck, RefusesMoreFilesThanTheSystemGrants) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit few = before;
  few.rlim_cur = 80;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  require_files(100);  // Within what may be asked for.
  rlimit raised{};
  ::getrlimit(RLIMIT_NOFILE, &raised);
  EXPECT_EQ(raised.rlim_cur, 264U);
  require_processes(2);
  ::getrlimit(RLIMIT_NOFILE, &raised);
  EXPECT_EQ(raised.rlim_cur, 264U) << "that is enough";
  ::setrlimit(RLIMIT_NOFILE, &few);
  require_processes(9);
  ::getrlimit(RLIMIT_NOFILE, &raised);
  EXPECT_EQ(raised.rlim_cur, 82U);
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_THAT([] { require_files(1'000'000'000); },
              ThrowsMessage<Error>(
                  fmt::format("1000000000 ranks need 2000000064 open files in a process, but only {} "
                              "are permitted here (ulimit -n)",
                              before.rlim_max)));
  ::setrlimit(RLIMIT_NOFILE, &before);
}

TEST(MemoryCheck, RefusesMoreProcessesThanMeetInAMinute) {
  require_cores(128, 2);
  require_cores(1024, 16);
  try {
    require_cores(129, 2);
    FAIL() << "it takes minutes";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::environment);
    EXPECT_STREQ(error.what(),
                 "129 ranks are too many for 2 cores: each is a process that connects to all others, and "
                 "ringside starts up to 64 for each core");
  }
  const int most = 64 * static_cast<int>(allowed_cores().size());
  EXPECT_THAT([&] { require_processes(most + 1); },
              ThrowsMessage<Error>(HasSubstr(fmt::format("{} ranks are too many for ", most + 1))));
}

TEST(MemoryCheck, RefusesMoreRanksThanOneMachineTakes) {
  EXPECT_THAT([] { require_memory({.algorithm = "ring", .ranks = 1025, .bytes = {8}}, {1LL << 40}); },
              ThrowsMessage<Error>("1025 ranks are too many for one machine; ringside starts up to 1024"));
}

TEST(MemoryCheck, TakesAsManyRanksAsAreStarted) {
  EXPECT_NO_THROW(require_memory({.algorithm = "ring", .ranks = 1024, .bytes = {8}}, {1LL << 40}));
}

TEST(MemoryCheck, NamesTheGpuThatHasTooLittleLeft) {
  GpuFacts gpu;
  gpu.memory = {40'000'000'000};
  gpu.model = "H200";
  std::vector<GpuFacts> gpus(2, gpu);
  const PointKey key = {.algorithm = "ring", .ranks = 2, .bytes = {1'000'000'000}};
  EXPECT_NO_THROW(require_gpu_memory(key, 1, gpus));
  const Bytes needed = memory_of_rank(key, 1);
  gpus[1].free = needed;
  EXPECT_NO_THROW(require_gpu_memory(key, 1, gpus));
  gpus[1].free = Bytes{needed.value - 1};
  EXPECT_THAT(
      [&] { require_gpu_memory(key, 1, gpus); },
      ThrowsMessage<Error>(fmt::format("all_reduce ring, 2 ranks, 1 GB needs {0:.1f} GB of memory on GPU 1 "
                                       "(H200), but only {0:.1f} GB is free",
                                       static_cast<double>(needed.value) / 1e9)));
  gpus[1].free.reset();
  EXPECT_NO_THROW(require_gpu_memory(key, 2, gpus));
  gpus[0].free = Bytes{memory_of_rank(key, 0).value + needed.value - 1};
  EXPECT_THAT([&] { require_gpu_memory(key, 2, gpus); },
              ThrowsMessage<Error>(HasSubstr("of memory on GPU 0 (H200)")));
  EXPECT_THROW(require_gpu_memory(key, 1, std::vector<GpuFacts>(1, gpu)), Error);
}

TEST(MemoryCheck, ALibrarysOwnCollectiveTakesTwoSegmentsBesideTheMessage) {
  const PointKey key = {.algorithm = "native", .ranks = 3, .bytes = {1000}};
  EXPECT_EQ(memory_of_rank(key, 1).value, 1000 + 2 * kMiB);
  EXPECT_EQ(memory_of_point(key).value, 3 * (1000 + 2 * kMiB));
}

TEST(MemoryCheck, OfManyRanksIsTheRootsAndTheLargestOfOthers) {
  // With the root alone, which receives from all others, and without.
  for (const int ranks : {64, 65, 200}) {
    EXPECT_EQ(memory_of_point({.algorithm = "naive", .ranks = ranks, .bytes = {kMiB}}).value,
              (ranks + 1) * kMiB);
  }
  // Where only every other rank has scratch, the largest of some stands for all.
  const PointKey tree = {
      .collective = Collective::reduce, .algorithm = "binomial_tree", .ranks = 80, .bytes = {4096}};
  EXPECT_GE(memory_of_point(tree).value, 80 * memory_of_rank(tree, 79).value);
}

TEST(MemoryCheck, IsMadeOfEveryPointThatCanRun) {
  const LaunchOptions threads = {.backend = Backend::threads};
  const auto check = [&](const std::vector<PointKey>& points) { require_points(points, threads); };
  const PointKey small = {.algorithm = "ring", .ranks = 2, .bytes = {8}};
  PointKey large = {.algorithm = "ring", .ranks = 2, .bytes = {1LL << 50}};
  EXPECT_NO_THROW(check({small}));
  EXPECT_THROW(check({small, large}), Error);
  large.dtype = DataType::bfloat16;  // A CPU does not reduce it.
  EXPECT_NO_THROW(check({small, large}));
  EXPECT_NO_THROW(check({{.algorithm = "ring", .ranks = 64 * 16 - 1, .bytes = {8}}}))
      << "threads are no processes";
}

/// The text behind the colon in the first line that begins so.
std::string line_of(const char* file, const std::string& key) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with(key)) {
      return line.substr(std::min(line.size(), line.find_first_not_of(" \t:", key.size())));
    }
  }
  return "";
}

TEST(ThisMachine, IsWhatTheSystemSaysOfIt) {
  const ThisMachine machine = this_machine();
  std::string host(256, '\0');
  ASSERT_EQ(::gethostname(host.data(), host.size()), 0);
  EXPECT_STREQ(machine.host.c_str(), host.c_str());
  std::ifstream release("/proc/sys/kernel/osrelease");
  std::string kernel;
  std::getline(release, kernel);
  EXPECT_EQ(machine.kernel, "Linux " + kernel);
  EXPECT_EQ(machine.cpu, line_of("/proc/cpuinfo", "model name"));
  EXPECT_LE(machine.cores, static_cast<int>(allowed_cores().size()));
  EXPECT_LE(machine.cores, machine.all_cores);
  EXPECT_THAT(machine.compiler, ::testing::StartsWith("GCC "));
  const std::int64_t memory = std::stoll(line_of("/proc/meminfo", "MemTotal")) * 1024;
  EXPECT_LE(machine.memory.value, memory);
  if (!std::ifstream("/sys/fs/cgroup/memory.max") ||
      line_of("/sys/fs/cgroup/memory.max", "") == "max") {  // No container has a limit.
    EXPECT_EQ(machine.memory.value, memory);
  }
  EXPECT_EQ(tcp_congestion_control(), line_of("/proc/sys/net/ipv4/tcp_congestion_control", ""));
}

TEST(ThisMachine, HasOneIdentityForEachPlaceOnIt) {
  const std::optional<double> own = identity_on_this_machine();
  if (line_of("/proc/sys/kernel/random/boot_id", "").empty()) {
    GTEST_SKIP() << "this system has no boot id";
  }
  ASSERT_TRUE(own);
  EXPECT_EQ(own, identity_on_this_machine());
  EXPECT_NE(own, identity_on_this_machine("0,1"));
  EXPECT_NE(identity_on_this_machine("0"), identity_on_this_machine("0,1"));
  EXPECT_GE(*own, 0);
  EXPECT_LT(*own, 0x1p53);
}

TEST(ThisMachine, KnowsItself) {
  const ThisMachine machine = this_machine();
  EXPECT_FALSE(machine.host.empty());
  EXPECT_FALSE(machine.kernel.empty());
  EXPECT_GE(machine.cores, 1);
  EXPECT_GT(machine.memory.value, 0);
  EXPECT_GT(available_memory().value, 0);
  EXPECT_LE(available_memory(), machine.memory);
}

}  // namespace
}  // namespace ringside
