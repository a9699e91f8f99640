#include "real/launch/rank_tuning.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <sched.h>

#include "real/backend/threads/transport.hpp"
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

TEST(SharedCores, AreThoseOfMoreRanksThanCores) {
  const int before = ::sched_getscheduler(0);
  for (const TunedRank& rank : ranks_of_this_process(this_machine().cores)) {
    EXPECT_FALSE(rank.shares);
    EXPECT_EQ(rank.policy, before);
  }
}

}  // namespace
}  // namespace ringside
