#include "real/measure/memory_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "common/error.hpp"
#include "real/launch/rank_limits.hpp"
#include "real/system/this_machine.hpp"

namespace ringside {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

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
    EXPECT_THAT(error.what(), AllOf(HasSubstr("all_reduce ring, 4 ranks, 100 GB"), HasSubstr("500.0 GB"),
                                    HasSubstr("23.5 GB")));
  }
  require_memory(key, {500'000'000'000});
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
  EXPECT_GE(raised.rlim_cur, 200U);
  ::setrlimit(RLIMIT_NOFILE, &before);
  try {
    require_files(1'000'000'000);
    FAIL() << "the kernel grants no process so many";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::environment);
    EXPECT_THAT(error.what(), HasSubstr("need 2000000064 open files"));
  }
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
    EXPECT_THAT(error.what(), HasSubstr("129 ranks are too many for 2 cores"));
    EXPECT_THAT(error.what(), HasSubstr("up to 64 for each core"));
  }
}

TEST(MemoryCheck, RefusesMoreRanksThanOneMachineTakes) {
  EXPECT_THROW(require_memory({.algorithm = "ring", .ranks = 1025, .bytes = {8}}, {1LL << 40}), Error);
}

TEST(MemoryCheck, TakesAsManyRanksAsAreStarted) {
  EXPECT_NO_THROW(require_memory({.algorithm = "ring", .ranks = 1024, .bytes = {8}}, {1LL << 40}));
}

TEST(MemoryCheck, NamesTheGpuThatHasTooLittleLeft) {
  GpuFacts gpu;
  gpu.memory = {40'000'000'000};
  std::vector<GpuFacts> gpus(2, gpu);
  const PointKey key = {.algorithm = "ring", .ranks = 2, .bytes = {1'000'000'000}};
  EXPECT_NO_THROW(require_gpu_memory(key, 1, gpus));
  gpus[1].free = Bytes{1'000'000};
  try {
    require_gpu_memory(key, 1, gpus);
    FAIL() << "a full GPU was taken";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("on GPU 1"));
  }
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
