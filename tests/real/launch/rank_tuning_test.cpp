#include "real/launch/rank_tuning.hpp"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sched.h>

#include "real/backend/threads/transport.hpp"
#include "real/system/posix.hpp"
#include "real/system/this_machine.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;

struct TunedRank {
  bool shares = false;
  int policy = -1;
};

/// All ranks may use all cores of this test, as those that a wrapper starts.
std::vector<TunedRank> ranks_of_this_process(int num_ranks) {
  std::vector<TunedRank> ranks(static_cast<std::size_t>(num_ranks));
  run_as_threads(num_ranks, 10s, [&](std::unique_ptr<Transport> transport) {
    Coordination coordination(*transport);
    TunedRank& rank = ranks[static_cast<std::size_t>(transport->rank())];
    rank.shares = use_batch_scheduling_on_shared_cores(coordination);
    coordination.barrier();
    rank.policy = ::sched_getscheduler(0);
  });
  return ranks;
}

TEST(SharedCores, PutAllThreadsUnderBatchScheduling) {
  const int before = ::sched_getscheduler(0);
  const sched_param priority = {};
  if (::sched_setscheduler(0, SCHED_BATCH, &priority) != 0) {
    GTEST_SKIP() << "this system lets no thread choose SCHED_BATCH";
  }
  ASSERT_EQ(::sched_setscheduler(0, before, &priority), 0);
  for (const TunedRank& rank : ranks_of_this_process(this_machine().cores + 1)) {
    EXPECT_TRUE(rank.shares);
    EXPECT_EQ(rank.policy, SCHED_BATCH);
  }
  ASSERT_EQ(::sched_getscheduler(0), SCHED_BATCH) << "the main thread, too";
  ASSERT_EQ(::sched_setscheduler(0, before, &priority), 0);
}

/// By rank, on a made-up machine of two sockets of this many cores each.
std::vector<int> sockets_on_two_of(int cores) {
  const TemporaryDirectory cpus;
  for (int core = 0; core < 2 * cores; ++core) {
    const auto topology = cpus.path() / ("cpu" + std::to_string(core)) / "topology";
    std::filesystem::create_directories(topology);
    std::ofstream(topology / "physical_package_id") << core / cores << "\n";
  }
  std::vector<int> sockets;
  run_as_threads(2, 10s, [&](std::unique_ptr<Transport> transport) {
    keep_to_own_cores(transport->rank(), 2);
    Coordination coordination(*transport);
    const std::vector<int> found = sockets_of_ranks(coordination, cpus.path());
    if (transport->rank() == 0) {
      sockets = found;
    }
  });
  return sockets;
}

TEST(Sockets, OfRanksAreKnownWhereEachIsKeptToOne) {
  const std::vector<std::size_t> cores = allowed_cores();
  if (cores != std::vector<std::size_t>{0, 1} || this_machine().cores != 2) {
    GTEST_SKIP() << "the made-up machine has the cores 0 and 1 of this one";
  }
  EXPECT_EQ(sockets_on_two_of(1), (std::vector{0, 1}));
  EXPECT_EQ(sockets_on_two_of(2), (std::vector{0, 0}));
}

TEST(SharedCores, AreThoseOfMoreRanksThanCores) {
  const int before = ::sched_getscheduler(0);
  for (const TunedRank& rank : ranks_of_this_process(this_machine().cores)) {
    EXPECT_FALSE(rank.shares);
    EXPECT_EQ(rank.policy, before);
  }
}

}  // namespace
}  // namespace ringside
