#include "real/launch/rank_child.hpp"

#include <chrono>
#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "common/error.hpp"
#include "real/system/posix.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;

::testing::AssertionResult comes_true(const std::function<bool()>& condition) {
  for (const auto end = std::chrono::steady_clock::now() + 20s; std::chrono::steady_clock::now() < end;) {
    if (condition()) {
      return ::testing::AssertionSuccess();
    }
    std::this_thread::sleep_for(1ms);
  }
  return ::testing::AssertionFailure() << "it does not come";
}

/// A shell that runs these commands.
RankChild shell(const std::string& commands, Rank rank = 1) { return {rank, {"sh", "-c", commands}}; }

std::string end_of(RankChild& child) {
  EXPECT_TRUE(comes_true([&] { return child.end().has_value(); }));
  return child.end().value_or("");
}

TEST(RankChild, HearsJobsAndIsHeard) {
  RankChild child = shell("read line; echo \"got $line\"; echo oops >&2; printf rest; exit 5");
  EXPECT_EQ(child.rank(), 1);
  EXPECT_EQ(child.end(), std::nullopt);
  EXPECT_TRUE(child.read_control());
  EXPECT_EQ(child.next_line(), std::nullopt);
  EXPECT_TRUE(child.send("work\n"));
  EXPECT_TRUE(comes_true([&] { return !child.read_control(); })) << "the end of what it says";
  EXPECT_EQ(child.next_line(), "got work");
  EXPECT_EQ(child.next_line(), std::nullopt);
  EXPECT_EQ(end_of(child), "ended with exit status 5");
  child.read_error_output();
  child.read_error_output();  // There is no more.
  EXPECT_EQ(child.output_tail(), "oops\n");
  EXPECT_FALSE(child.send("work\n"));
}

TEST(RankChild, TheLast4096BytesOfItsOutputAreKept) {
  for (const std::size_t size : {4095U, 4096U, 4097U, 9000U}) {
    RankChild child = shell(fmt::format("head -c {} /dev/zero | tr '\\0' a >&2; printf b >&2", size - 1));
    EXPECT_TRUE(comes_true([&] {
      child.read_error_output();
      return child.output_tail().ends_with('b');
    }));
    EXPECT_EQ(child.output_tail(), std::string(std::min<std::size_t>(size, 4096) - 1, 'a') + 'b');
  }
}

TEST(RankChild, WhatCannotBeStartedIsRefusedWithTheReason) {
  EXPECT_THAT(
      [] {
        RankChild(3, {"/no/such/program", "rank"});
      },
      ::testing::ThrowsMessage<Error>(
          "rank 3 cannot be started as `/no/such/program`: No such file or directory"));
}

TEST(RankChild, SignalsAreAsUsualHoweverTheyAreHere) {
  sigset_t terminate;
  sigset_t before;
  sigemptyset(&terminate);
  sigaddset(&terminate, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &terminate, &before);
  RankChild child = shell("kill -TERM $$; exit 0");
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(end_of(child), "was killed by signal 15 (Terminated)");
}

TEST(RankChild, IsSeenToBeStoppedAndIsKilledAllTheSame) {
  RankChild child = shell("kill -STOP $$; exit 0");
  EXPECT_TRUE(comes_true([&] { return child.stopped(); }));
  EXPECT_EQ(child.end(), std::nullopt);
  child.kill();
  EXPECT_EQ(end_of(child), "was killed by signal 9 (Killed)");
  EXPECT_FALSE(child.stopped());
}

TEST(RankChild, IsKilledWithAllThatItHasStarted) {
  pid_t started = 0;
  {
    RankChild child = shell("sleep 1000 & echo $!; read line");
    EXPECT_EQ(::getpgid(child.process()), child.process());
    EXPECT_TRUE(comes_true([&] {
      child.read_control();
      const std::optional<std::string> line = child.next_line();
      started = line ? std::stoi(*line) : 0;
      return started > 0;
    }));
    EXPECT_EQ(::getpgid(started), child.process());
  }
  EXPECT_TRUE(comes_true([&] {
    const char state = process_state(fmt::format("/proc/{}", started));
    return state == '\0' || state == 'Z';
  }));
}

TEST(RankChild, EndsByItselfWhenNothingMoreIsSaidToIt) {
  RankChild child = shell("cat; exit 4");
  EXPECT_TRUE(child.send("line\n"));
  child.close_control();
  EXPECT_EQ(end_of(child), "ended with exit status 4");
  EXPECT_FALSE(child.read_control());
  EXPECT_EQ(child.next_line(), "line") << "what it said before is heard";
}

TEST(RankChild, OneThatDiesBeforeItReadsSaysNoMore) {
  RankChild child = shell("sleep 1000");
  EXPECT_TRUE(child.send("unread\n"));
  child.kill();
  EXPECT_EQ(end_of(child), "was killed by signal 9 (Killed)");
  EXPECT_TRUE(comes_true([&] { return !child.read_control(); }));
}

TEST(RankChild, MayBeACopyOfThisProcess) {
  const pid_t parent = ::getpid();
  RankChild child(2, [&](int control) {
    const std::string line = fmt::format("{}\n", ::getppid() == parent && ::getpid() != parent);
    return ::write(control, line.data(), line.size()) > 0 ? 7 : 8;
  });
  EXPECT_EQ(end_of(child), "ended with exit status 7");
  child.read_control();
  EXPECT_EQ(child.next_line(), "true");
  EXPECT_EQ(child.output_tail(), "");
}

}  // namespace
}  // namespace ringside
