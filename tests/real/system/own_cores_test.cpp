#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sched.h>

#include "real/system/posix.hpp"
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

/// A folder like the kernel's list of cores, of a made-up machine: core i is on socket i mod `sockets`.
class MadeUpCores {
 public:
  MadeUpCores(int cores, int sockets) {
    for (int core = 0; core < cores; ++core) {
      const auto topology = cpus.path() / ("cpu" + std::to_string(core)) / "topology";
      std::filesystem::create_directories(topology);
      std::ofstream(topology / "physical_package_id") << core % sockets << "\n";
    }
  }
  TemporaryDirectory cpus = {};
};

TEST(Sockets, OfMadeUpMachinesAreFound) {
  const MadeUpCores two(8, 2);
  const auto socket = [&](const Cores& cores) { return socket_of(cores, two.cpus.path()); };
  EXPECT_EQ(num_sockets(two.cpus.path()), 2);
  EXPECT_EQ(socket({0, 2, 6}), 0);
  EXPECT_EQ(socket({1, 7}), 1);
  EXPECT_EQ(socket({0, 1}), std::nullopt);
  EXPECT_EQ(socket({9}), std::nullopt);
  EXPECT_EQ(socket({}), std::nullopt);
  EXPECT_EQ(by_socket(Cores{0, 1, 2, 3, 5, 6}, two.cpus.path()), (Cores{0, 2, 6, 1, 3, 5}));
  const MadeUpCores one(4, 1);
  EXPECT_EQ(num_sockets(one.cpus.path()), 1);
  EXPECT_EQ(by_socket(Cores{0, 1, 2, 3}, one.cpus.path()), (Cores{0, 1, 2, 3}));
  EXPECT_EQ(num_sockets(one.cpus.path() / "nowhere"), 0);
  EXPECT_EQ(by_socket(Cores{0, 1}, one.cpus.path() / "nowhere"), (Cores{0, 1}));
}

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
