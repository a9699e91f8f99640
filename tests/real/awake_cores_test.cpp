#include "real/awake_cores.hpp"

#include <chrono>
#include <ctime>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sched.h>

namespace ringside {
namespace {

using namespace std::chrono_literals;

double processor_seconds() {
  timespec used = {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

std::size_t some_core() { return static_cast<std::size_t>(::sched_getcpu()); }

TEST(AwakeCores, SpinWhileTheyLive) {
  const std::vector<std::size_t> cores = {some_core()};
  const double before = processor_seconds();
  {
    const AwakeCores awake(cores);
    // However busy the machine is, some time will be left for the thread.
    while (processor_seconds() - before < 1e-3) {
      std::this_thread::sleep_for(1ms);
    }
  }
  const double after = processor_seconds();
  std::this_thread::sleep_for(5ms);
  EXPECT_LT(processor_seconds() - after, 4e-3) << "nobody spins any more";
}

TEST(AwakeCores, LeaveTheCallersOwnThreadAlone) {
  cpu_set_t before;
  cpu_set_t after;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(before), &before), 0);
  const AwakeCores awake(std::vector<std::size_t>{some_core()});
  ASSERT_EQ(::sched_getaffinity(0, sizeof(after), &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
  EXPECT_EQ(::sched_getscheduler(0), SCHED_OTHER);
}

TEST(AwakeCores, OfNoCoresDoNothing) {
  const double before = processor_seconds();
  const AwakeCores awake({});
  std::this_thread::sleep_for(5ms);
  EXPECT_LT(processor_seconds() - before, 4e-3);
}

}  // namespace
}  // namespace ringside
