#include "real/system/core_wait.hpp"

#include <chrono>
#include <csignal>
#include <thread>

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "real/system/this_machine.hpp"
#include "tests/real/processes.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;

TEST(CoreWait, OfAProcessThatSleepsIsShort) {
  CoreWait wait(start({"sleep", "1"}));
  std::this_thread::sleep_for(500ms);
  wait.look();
  EXPECT_GE(wait.elapsed(), 500ms);
  EXPECT_LT(wait.longest(), wait.elapsed() / 2);
}

TEST(CoreWait, OfAProcessThatSharesItsCoreIsLong) {
  const std::size_t core = allowed_cores().front();
  const BusyCores busy({core, core, core});
  // Whichever of the three it is, each waits while the two others run.
  CoreWait wait(busy.processes().front());
  std::this_thread::sleep_for(1s);
  wait.look();
  if (wait.longest() == 0ms) {
    GTEST_SKIP() << "this kernel does not say how long threads wait";
  }
  EXPECT_GT(wait.longest(), 300ms);
}

TEST(CoreWait, OfAProcessThatHasNotHadItsTurnYetCounts) {
  const std::size_t core = allowed_cores().front();
  const BusyCores busy({core, core, core, core, core});
  const pid_t last = busy.processes().back();
  const sched_param priority = {};
  ASSERT_EQ(::sched_setscheduler(last, SCHED_IDLE, &priority), 0);
  CoreWait wait(last);
  for (int i = 0; i < 10; ++i) {
    std::this_thread::sleep_for(100ms);
    wait.look();
  }
  EXPECT_GT(wait.longest(), wait.elapsed() / 2);
}

TEST(CoreWait, BeginsWithTheFirstLook) {
  const std::size_t core = allowed_cores().front();
  const BusyCores busy({core, core, core});
  std::this_thread::sleep_for(1s);
  const pid_t process = busy.processes().front();
  ::kill(process, SIGSTOP);
  std::this_thread::sleep_for(100ms);
  CoreWait wait(process);
  wait.look();
  EXPECT_LT(wait.longest(), 100ms);
}

TEST(CoreWait, OfAProcessThatRunsAllTheTimeIsShort) {
  const BusyCores busy({allowed_cores().front()});
  CoreWait wait(busy.processes().front());
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(100ms);
    wait.look();
  }
  // Others may share the core, but not that many.
  EXPECT_LT(wait.longest(), wait.elapsed());
}

TEST(CoreWait, OfAProcessThatIsGoneIsNone) {
  const pid_t process = start({"true"});
  ::waitpid(process, nullptr, 0);
  EXPECT_EQ(CoreWait(process).longest(), 0ms);
}

}  // namespace
}  // namespace ringside
