#include "real/launch/rank_watch.hpp"

#include <chrono>
#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <unistd.h>

#include "common/error.hpp"

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
  watch.send("work\n");
  try {
    watch.wait_for_answers("testing");
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
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
            "nothing else is wrong with them");
  EXPECT_EQ(root_cause({stopped, ran}),
            "rank 0 did not run for 70 s while testing, and ranks wait for each other for 60 s; "
            "nothing else is wrong with it");
}

}  // namespace
}  // namespace ringside
