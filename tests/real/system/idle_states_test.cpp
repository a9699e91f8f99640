#include "real/system/idle_states.hpp"

#include <atomic>
#include <chrono>
#include <ctime>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include "real/system/other_load.hpp"
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
