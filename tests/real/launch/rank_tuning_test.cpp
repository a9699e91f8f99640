#include "real/launch/rank_tuning.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include "real/backend/threads/transport.hpp"
#include "real/launch/rank_child.hpp"
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

class NoDevice final : public RankDevice {
 public:
  bool shares_gpu() const override { return false; }
  std::unique_ptr<ReadyCall> make_ready(const Program&) override { return nullptr; }
  std::unique_ptr<ReadyCall> make_ready(const CollectiveCall&) override { return nullptr; }
  std::unique_ptr<DeviceCalls> make_calls() override { return nullptr; }
};

/// What tuning has done at the one rank of a process of its own, and how far its other thread stands behind.
std::string tuned(const std::function<void(RankTuning&, RankBackend&)>& prepare) {
  RankChild child(0, [&](int control) {
    std::promise<void> over;
    std::atomic<pid_t> other = 0;
    std::thread waiting([&, ends = over.get_future()] {
      other = ::gettid();
      ends.wait();
    });
    while (other == 0) {
      std::this_thread::yield();
    }
    std::string line;
    run_as_threads(1, 20s, [&](std::unique_ptr<Transport> transport) {
      Coordination coordination(*transport);
      RankBackend backend = threads_rank(std::move(transport));
      RankTuning tuning;
      prepare(tuning, backend);
      const int nice = ::getpriority(PRIO_PROCESS, 0);
      tuning.tune(coordination, backend);
      line =
          fmt::format("{} {} {} {} {}\n", backend.tuning.bound_to_cores ? "bound" : "unbound",
                      backend.tuning.thread_priority ? "first" : "equal",
                      backend.tuning.batch_scheduling ? "batch" : "usual", static_cast<int>(backend.cpu_site),
                      ::getpriority(PRIO_PROCESS, static_cast<id_t>(other.load())) - nice);
    });
    over.set_value();
    waiting.join();
    return ::write(control, line.data(), line.size()) > 0 ? 0 : 1;
  });
  while (child.read_control()) {
    std::this_thread::sleep_for(1ms);
  }
  return child.next_line().value_or("nothing");
}

TEST(RankTuning, PutsTheRanksThreadFirstWhereEachHasItsCores) {
  if (this_machine().cores != static_cast<int>(allowed_cores().size()) ||
      ::getpriority(PRIO_PROCESS, 0) > 14) {
    GTEST_SKIP() << "this container grants less time than cores, or no lower priority";
  }
  const auto site = [](RankSite is) { return std::to_string(static_cast<int>(is)); };
  const auto bind = [](RankTuning& tuning, RankBackend&) { tuning.bind(0, 1); };
  EXPECT_EQ(tuned(bind), "bound first usual " + site(RankSite::own_core) + " 5");
  EXPECT_EQ(tuned([&](RankTuning& tuning, RankBackend& backend) {
              backend.cpu_site = RankSite::memory;
              tuning.bind(0, 1);
            }),
            "bound first usual " + site(RankSite::memory) + " 5");
  EXPECT_EQ(tuned([&](RankTuning& tuning, RankBackend&) {
              const sched_param priority = {};
              ::sched_setscheduler(0, SCHED_BATCH, &priority);
              tuning.bind(0, 1);
            }),
            "bound equal usual " + site(RankSite::own_core) + " 0")
      << "whoever started it has chosen";
  EXPECT_EQ(tuned([&](RankTuning& tuning, RankBackend&) {
              ::setpriority(PRIO_PROCESS, 0, 16);
              tuning.bind(0, 1);
            }),
            fmt::format("bound first usual {} {}", site(RankSite::own_core), 3))
      << "nobody stands behind the last place";
}

TEST(RankTuning, LeavesTheRestAsItIs) {
  const std::string cpu = std::to_string(static_cast<int>(RankSite::cpu));
  EXPECT_EQ(tuned([](RankTuning&, RankBackend&) {}), "unbound equal usual " + cpu + " 0");
  EXPECT_EQ(tuned([](RankTuning& tuning, RankBackend& backend) {
              backend.device = std::make_unique<NoDevice>();
              tuning.bind(0, 1);
            }),
            "unbound equal usual " + cpu + " 0");
  EXPECT_EQ(tuned([](RankTuning& tuning, RankBackend&) { tuning.bind(0, 10'000); }),
            "unbound equal usual " + std::to_string(static_cast<int>(RankSite::shared_cores)) + " 0");
}

}  // namespace
}  // namespace ringside
