#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sched.h>

#include "real/system/this_machine.hpp"

namespace ringside {
namespace {

using Cores = std::vector<std::size_t>;

Cores part(const Cores& cores, int index, int num_parts) {
  const std::span<const std::size_t> own = part_of(cores, index, num_parts);
  return {own.begin(), own.end()};
}

TEST(OwnCores, PartsAreEvenAndAdjacent) {
  EXPECT_EQ(part({4, 5, 6, 7}, 0, 2), (Cores{4, 5}));
  EXPECT_EQ(part({4, 5, 6, 7}, 1, 2), (Cores{6, 7}));
}

TEST(OwnCores, EveryCoreBelongsToOnePart) {
  const Cores cores = {0, 2, 3, 8, 9, 11, 12};
  Cores all;
  for (int index = 0; index < 3; ++index) {
    const Cores own = part(cores, index, 3);
    EXPECT_GE(own.size(), 2u);
    EXPECT_LE(own.size(), 3u);
    all.insert(all.end(), own.begin(), own.end());
  }
  EXPECT_EQ(all, cores);
}

TEST(OwnCores, NobodyIsBoundWhenThereAreFewerCoresThanParts) { EXPECT_TRUE(part({0, 1}, 0, 3).empty()); }

int cores_of_this_thread() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return ::sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : -1;
}

TEST(OwnCores, BindsTheThreadAndThoseItStarts) {
  const int before = cores_of_this_thread();
  std::thread([&] {
    EXPECT_TRUE(keep_to_own_cores(0, before + 1).empty());
    EXPECT_EQ(cores_of_this_thread(), before);
    EXPECT_EQ(keep_to_own_cores(before - 1, before).size(), 1u);
    EXPECT_EQ(cores_of_this_thread(), 1);
    int of_child = 0;
    std::thread([&] { of_child = cores_of_this_thread(); }).join();
    EXPECT_EQ(of_child, 1);
  }).join();
  EXPECT_EQ(cores_of_this_thread(), before);
}

}  // namespace
}  // namespace ringside
