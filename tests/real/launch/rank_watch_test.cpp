#include "real/launch/rank_watch.hpp"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <unistd.h>

#include "common/error.hpp"
#include "real/system/posix.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// What one rank answers to the first line that it gets, or does then; none: it says nothing more.
using Script = std::variant<std::nullopt_t, Answer, std::function<int()>>;

Answer complaint(const std::string& text, std::optional<Rank> lost_peer, bool late) {
  return {.kind = AnswerKind::failed,
          .text = text,
          .error = ErrorKind::peer_lost,
          .lost_peer = lost_peer,
          .late = late};
}

/// What is wrong once the ranks were told to work; "nothing" where they answer.
std::string outcome_of(RankWatch& watch) {
  watch.send("work\n");
  try {
    watch.wait_for_answers("testing");
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

/// Copies of this process that answer as their scripts say, and what is made of it.
std::string root_cause(const std::vector<Script>& scripts) {
  InterruptGuard interrupts;
  RankWatch watch({.timeout = 60s}, interrupts);
  for (const Script& script : scripts) {
    watch.start(std::function<int(int)>([&script](int control) {
      char byte = 0;
      while (::read(control, &byte, 1) == 1 && byte != '\n') {
      }
      if (const auto* does = std::get_if<std::function<int()>>(&script)) {
        return (*does)();
      }
      if (const auto* answer = std::get_if<Answer>(&script)) {
        const std::string line = to_line(*answer);
        static_cast<void>(::write(control, line.data(), line.size()) == 0);
      }
      while (::read(control, &byte, 1) == 1) {
      }
      return 0;
    }));
  }
  return outcome_of(watch);
}

TEST(RankWatch, WhoSaysNothingIsNamedByWhoWaitsForIt) {
  EXPECT_EQ(root_cause({complaint("rank 0 waited 60 s to receive from rank 1", 1, true), std::nullopt}),
            "rank 1 did not answer within 60 s while testing");
}

TEST(RankWatch, WhoHasAnsweredDoesNotHang) {
  // Rank 0 waits for rank 2, which waits for rank 1.
  EXPECT_EQ(root_cause({complaint("rank 0 waited 60 s to receive from rank 2", 2, true), std::nullopt,
                        complaint("rank 2 waited 60 s to receive from rank 1", 1, true)}),
            "rank 1 did not answer within 60 s while testing");
}

TEST(RankWatch, WhoWaitedInVainIsHeardAndNotWhoLostIt) {
  EXPECT_THAT(root_cause({complaint("rank 0 waited 60 s to receive from rank 1", 1, true),
                          complaint("rank 1 lost its connection to rank 0", 0, false)}),
              AllOf(HasSubstr("rank 0 waited 60 s"), Not(HasSubstr("lost its connection"))));
}

TEST(RankWatch, AnErrorOfOnesOwnComesBeforeThoseWhoMissIt) {
  Answer own = {.kind = AnswerKind::failed, .text = "no space left", .error = ErrorKind::environment};
  EXPECT_EQ(root_cause({complaint("rank 0 waited 60 s to receive from rank 1", 1, true), own}),
            "rank 1 failed while testing: no space left");
}

TEST(RankWatch, WhoIsDoneHasNotFailed) {
  EXPECT_EQ(root_cause({Answer{.kind = AnswerKind::done},
                        complaint("rank 1 waited 60 s to receive from rank 0", 0, true)}),
            "rank 1 waited 60 s to receive from rank 0 while testing");
}

TEST(RankWatch, AComplaintMayNameNobody) {
  EXPECT_EQ(root_cause({std::nullopt, complaint("rank 1 waited 60 s for all others", std::nullopt, true)}),
            "rank 1 waited 60 s for all others while testing");
}

/// The root cause where rank 1 does this, once it has its work, and rank 0 waits for it in vain.
std::string root_cause_of(const std::function<int()>& body) {
  return root_cause({complaint("rank 0 waited 60 s to receive from rank 1", 1, true), body});
}

TEST(RankWatch, WhoIsStoppedIsSaidToBe) {
  EXPECT_EQ(root_cause_of([] { return ::raise(SIGSTOP); }),
            "rank 1 did not answer within 60 s while testing (it is stopped)");
}

TEST(RankWatch, WhoHasEndedIsNamedWithItsStatus) {
  EXPECT_EQ(root_cause_of([] { return 3; }), "rank 1 ended with exit status 3 while testing");
  EXPECT_EQ(root_cause_of([] { return ::raise(SIGKILL); }),
            "rank 1 was killed by signal 9 (Killed) while testing");
}

TEST(RankWatch, RanksThatDidNotRunAreNamedWithTheLongestPause) {
  Answer stopped = complaint("rank 0 waited 60 s to receive from rank 1", 1, true);
  stopped.paused = 70s;
  Answer starved = complaint("rank 1 waited 60 s to receive from rank 0", 0, true);
  starved.paused = 59'300ms;  // Waits are cut into pieces: what is a little shorter counts, too.
  Answer ran = complaint("rank 2 waited 60 s to receive from rank 0", 0, true);
  ran.paused = 59'299ms;
  EXPECT_EQ(root_cause({stopped, starved, ran}),
            "ranks 0, 1 did not run for 70 s while testing, and ranks wait for each other for 60 s; "
            "nothing else is known to be wrong with them");
  EXPECT_EQ(root_cause({stopped, ran}),
            "rank 0 did not run for 70 s while testing, and ranks wait for each other for 60 s; "
            "nothing else is known to be wrong with it");
}

/// A rank that answers every line with what `result` makes of it, and at the end leaves a file there.
std::function<int(int)> answering(const std::function<Answer(const std::string&)>& result,
                                  const std::string& file = "") {
  return [result, file](int control) {
    std::string line;
    for (char byte = 0; ::read(control, &byte, 1) == 1;) {
      if (byte != '\n') {
        line += byte;
        continue;
      }
      const std::string answer = to_line(result(line));
      static_cast<void>(::write(control, answer.data(), answer.size()) == 0);
      line.clear();
    }
    if (!file.empty()) {
      std::ofstream(file) << "left";
    }
    return 0;
  };
}

TEST(RankWatch, TheAnswerOfTheFirstRankCountsForEveryJob) {
  InterruptGuard interrupts;
  RankWatch watch({.timeout = 60s}, interrupts);
  for (const std::string rank : {"a", "b"}) {
    watch.start(
        answering([rank](const std::string& line) { return Answer{.result = line + " by " + rank}; }));
  }
  for (const std::string job : {"one", "two"}) {
    watch.send(job + "\n");
    EXPECT_EQ(watch.wait_for_answers("testing").result, job + " by a");
  }
}

TEST(RankWatch, RanksThatAreWellEndByThemselves) {
  const TemporaryDirectory directory;
  const std::filesystem::path first = directory.path() / "0";
  const std::filesystem::path second = directory.path() / "1";
  {
    InterruptGuard interrupts;
    RankWatch watch({.timeout = 60s}, interrupts);
    for (const std::filesystem::path& file : {first, second}) {
      watch.start(answering([](const std::string&) { return Answer{}; }, file.string()));
    }
    watch.send("work\n");
    watch.wait_for_answers("testing");
  }
  EXPECT_TRUE(std::filesystem::exists(first));
  EXPECT_TRUE(std::filesystem::exists(second));
}

TEST(RankWatch, ABugOfARankIsABug) {
  InterruptGuard interrupts;
  RankWatch watch({.timeout = 60s}, interrupts);
  watch.start(answering([](const std::string&) { return Answer{}; }));
  watch.start(answering(
      [](const std::string&) { return Answer{.kind = AnswerKind::failed, .text = "an impossible state"}; }));
  watch.send("work\n");
  EXPECT_THAT([&] { watch.wait_for_answers("testing"); },
              ::testing::ThrowsMessage<Bug>("rank 1 failed while testing: an impossible state"));
}

TEST(RankWatch, ASignalEndsTheWait) {
  InterruptGuard interrupts;
  RankWatch watch({.timeout = 60s}, interrupts);
  watch.start(answering([](const std::string&) { return Answer{.kind = AnswerKind::alive}; }));
  watch.send("work\n");
  ::raise(SIGTERM);
  try {
    watch.wait_for_answers("testing");
    ADD_FAILURE() << "nobody has answered";
  } catch (const Interrupted& interrupted) {
    EXPECT_EQ(interrupted.signal, SIGTERM);
  }
}

TEST(RankWatch, WhatARankWroteBeforeItEndedIsTold) {
  InterruptGuard interrupts;
  RankWatch watch({.timeout = 60s}, interrupts);
  watch.start(std::vector<std::string>{"sh", "-c", "read line; echo it is broken >&2; exit 3"});
  watch.send("work\n");
  EXPECT_THAT([&] { watch.wait_for_answers("testing"); },
              ::testing::ThrowsMessage<Error>("rank 0 ended with exit status 3 while testing\nThe end of its "
                                              "output: it is broken\n"));
}

TEST(RankWatch, WhoClosesItsSocketAndLivesIsNamed) {
  InterruptGuard interrupts;
  RankWatch watch({.timeout = 60s}, interrupts);
  watch.start(answering([](const std::string&) { return Answer{}; }));
  watch.start(std::function<int(int)>([](int control) {
    ::close(control);
    ::sleep(1000);
    return 0;
  }));
  watch.send("work\n");
  EXPECT_THAT([&] { watch.wait_for_answers("testing"); },
              ::testing::ThrowsMessage<Error>("rank 1 closed its control socket while testing"));
}

TEST(RankWatch, WhoWasStoppedItselfHoldsNobodyAtFault) {
  InterruptGuard interrupts;
  RankWatch watch({.timeout = 1s}, interrupts);
  watch.start(answering([](const std::string&) {
    ::kill(::getppid(), SIGSTOP);
    std::this_thread::sleep_for(1500ms);
    ::kill(::getppid(), SIGCONT);
    return complaint("rank 0 waited 1 s to receive from rank 1", 1, true);
  }));
  watch.start(answering([](const std::string&) {
    std::this_thread::sleep_for(60s);
    return Answer{};
  }));
  watch.send("work\n");
  EXPECT_THAT(
      [&] { watch.wait_for_answers("testing"); },
      ::testing::ThrowsMessage<Error>(AllOf(
          HasSubstr("this program did not run for "),
          HasSubstr(" while testing, and its ranks, which wait for each other for 1 s, gave up; nothing "
                    "is wrong with them"))));
}

/// What becomes of ranks that say "alive" at each of these times, and at last that they are done.
std::string patience_with(const std::vector<std::chrono::milliseconds>& alive, bool heartbeat = true) {
  InterruptGuard interrupts;
  RankWatch watch({.timeout = 100ms, .heartbeat = heartbeat}, interrupts);
  watch.start(std::function<int(int)>([&](int control) {
    const auto say = [control](AnswerKind kind) {
      const std::string line = to_line(Answer{.kind = kind});
      static_cast<void>(::write(control, line.data(), line.size()) == 0);
    };
    for (const std::chrono::milliseconds pause : alive) {
      std::this_thread::sleep_for(pause);
      say(AnswerKind::alive);
    }
    say(AnswerKind::done);
    for (char byte = 0; ::read(control, &byte, 1) == 1;) {
    }
    return 0;
  }));
  return outcome_of(watch);
}

TEST(RankWatch, WhoIsAliveMayWorkForLongAndWhoIsSilentMayNot) {
  EXPECT_EQ(patience_with({700ms, 700ms, 700ms, 700ms}), "nothing");
  EXPECT_EQ(patience_with({20'000ms}), "rank 0 did not answer within 100 ms while testing");
  EXPECT_EQ(patience_with({2600ms}, false), "nothing") << "without a heartbeat nobody is late";
}

}  // namespace
}  // namespace ringside
