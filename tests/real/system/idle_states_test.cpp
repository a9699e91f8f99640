#include "real/system/idle_states.hpp"

#include <atomic>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include "real/system/other_load.hpp"
#include "real/system/posix.hpp"
#include "real/system/this_machine.hpp"
#include "tests/real/processes.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

double processor_seconds() {
  timespec used = {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

std::size_t some_core() { return static_cast<std::size_t>(::sched_getcpu()); }

/// However busy the machine is, some time will be left for threads that spin.
void wait_until_it_spins() {
  const double before = processor_seconds();
  while (processor_seconds() - before < 1e-3) {
    std::this_thread::sleep_for(1ms);
  }
}

/// A thread that keeps a core busy at the usual priority.
class BusyThread {
 public:
  explicit BusyThread(std::size_t core)
      : thread_([this, core] {
          cpu_set_t set;
          CPU_ZERO(&set);
          CPU_SET(core, &set);
          ::sched_setaffinity(0, sizeof(set), &set);
          while (!over_.load(std::memory_order_relaxed)) {
          }
        }) {}
  ~BusyThread() {
    over_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

TEST(IdleStates, ArePreventedFromStartToStop) {
  const std::vector<std::size_t> cores = {some_core()};
  IdleStatePrevention prevention(cores);
  ASSERT_TRUE(prevention.effective());
  std::this_thread::sleep_for(5ms);  // Its thread falls asleep.
  for (int repetition = 0; repetition < 2; ++repetition) {
    prevention.start();
    wait_until_it_spins();
    prevention.stop();
    // The thread may still have to run before it sees that.
    double rest = 1;
    for (int attempt = 0; attempt < 400 && rest > 4e-3; ++attempt) {
      const double before = processor_seconds();
      std::this_thread::sleep_for(5ms);
      rest = processor_seconds() - before;
    }
    EXPECT_LT(rest, 4e-3) << "nobody spins any more";
  }
}

TEST(IdleStates, NobodyWaitsForAThreadThatABusyCoreStarves) {
  const std::size_t core = some_core();
  const BusyThread busy(core);
  std::this_thread::sleep_for(20ms);
  const Clock::time_point begin = Clock::now();
  for (int repetition = 0; repetition < 10; ++repetition) {
    IdleStatePrevention prevention(std::vector<std::size_t>{core});
    for (int point = 0; point < 3; ++point) {
      prevention.start();
      std::this_thread::sleep_for(2ms);
      prevention.stop();
    }
  }
  // Waiting for one such thread takes about a second.
  EXPECT_LT(Clock::now() - begin, 3s);
}

TEST(OtherLoad, IsWhatOtherProcessesUse) {
  const std::size_t core = some_core();
  const BusyCores busy({core});
  const OtherLoad load(std::vector<std::size_t>{core});
  std::this_thread::sleep_for(200ms);
  EXPECT_GT(load.cores_used(), 0.6);
}

TEST(OtherLoad, CountsWhatTheseCoresDidAndNoOthers) {
  const std::string text =
      "cpu  900 900 900 900 900 900 900 900 0 0\n"
      "cpu0 100 20 3 5000 600 70 8 9 0 0\n"
      "cpu1 200 40 6 5000 600 70 8 18 0 0\n"
      "cpu10 400 80 12 5000 600 70 8 36 0 0\n"
      "cpu2 1 2 3\n"
      "intr 1 2 3 4 5 6 7 8 9\n";
  const auto seconds = [&](const std::vector<std::size_t>& cores, double ticks) {
    std::istringstream statistics(text);
    const CoreSeconds found = core_seconds(statistics, cores, ticks);
    return std::pair(found.busy, found.stolen);
  };
  EXPECT_EQ(seconds({0}, 1), std::pair(123.0, 9.0));
  EXPECT_EQ(seconds({1}, 2), std::pair(123.0, 9.0));
  EXPECT_EQ(seconds({0, 10}, 1), std::pair(615.0, 45.0));
  EXPECT_EQ(seconds({2, 7}, 1), std::pair(0.0, 0.0)) << "of these nothing is told";
  EXPECT_EQ(seconds({}, 1), std::pair(0.0, 0.0));
}

TEST(OtherLoad, CountsForHowLongItsControlGroupWasStopped) {
  const TemporaryDirectory directory;
  const auto groups = directory.path() / "cgroup";
  std::filesystem::create_directories(directory.path() / "a" / "b");
  std::ofstream(groups) << "1:cpu:/other\n0::/a/b\n";
  EXPECT_EQ(throttled_seconds(groups, directory.path()), 0) << "there are no statistics";
  std::ofstream(directory.path() / "a" / "b" / "cpu.stat")
      << "usage_usec 7\nnr_throttled 3\nthrottled_usec 2500000\n";
  EXPECT_DOUBLE_EQ(throttled_seconds(groups, directory.path()), 2.5);
  std::ofstream(groups) << "1:cpu:/a/b\n";
  EXPECT_EQ(throttled_seconds(groups, directory.path()), 0) << "it is in no group of the second version";
  EXPECT_EQ(throttled_seconds(directory.path() / "none", directory.path()), 0);
}

TEST(OtherLoad, IsNeverNegativeAndTakesTheTimeThatIsAsked) {
  const OtherLoad load = OtherLoad::over(30ms);
  EXPECT_GE(load.elapsed(), 30ms);
  const double most = 1 + 2 * static_cast<double>(allowed_cores().size());  // Ticks are coarse.
  for (const double cores : {load.cores_used(), load.cores_stolen()}) {
    EXPECT_GE(cores, 0);
    EXPECT_LE(cores, most);
  }
  EXPECT_GE(load.cores_throttled(), 0);
}

TEST(OtherLoad, IsNotWhatThisProcessUsesItself) {
  std::thread([] {
    const std::size_t core = some_core();
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    ASSERT_EQ(::sched_setaffinity(0, sizeof(set), &set), 0);
    const OtherLoad load(std::vector<std::size_t>{core});
    const double before = processor_seconds();
    while (load.elapsed() < 200ms) {
    }
    const double share = (processor_seconds() - before) / load.elapsed().count();
    EXPECT_LE(load.cores_used(), 1.1 - share) << "others have the rest of one core at most";
  }).join();
}

TEST(IdleStates, TheCallersOwnThreadIsLeftAlone) {
  cpu_set_t before;
  cpu_set_t after;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(before), &before), 0);
  IdleStatePrevention prevention(std::vector<std::size_t>{some_core()});
  prevention.start();
  ASSERT_EQ(::sched_getaffinity(0, sizeof(after), &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
  EXPECT_EQ(::sched_getscheduler(0), SCHED_OTHER);
}

TEST(IdleStates, OfNoCoresNothingIsPrevented) {
  IdleStatePrevention prevention({});
  EXPECT_FALSE(prevention.effective());
  const double before = processor_seconds();
  prevention.start();
  std::this_thread::sleep_for(5ms);
  EXPECT_LT(processor_seconds() - before, 4e-3);
}

}  // namespace
}  // namespace ringside
