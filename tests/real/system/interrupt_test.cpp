#include "real/system/interrupt.hpp"

#include <csignal>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"

namespace ringside {
namespace {

volatile std::sig_atomic_t g_raised = 0;

/// A signal is handled so as long as it lives.
class Handled {
 public:
  Handled(int signal, void (*handler)(int)) : signal_(signal), before_(::signal(signal, handler)) {}
  ~Handled() { ::signal(signal_, before_); }
  Handled(const Handled&) = delete;
  Handled& operator=(const Handled&) = delete;

 private:
  int signal_;
  void (*before_)(int);
};

bool blocked(int signal) {
  sigset_t now;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &now);
  return sigismember(&now, signal) == 1;
}

TEST(Interrupts, AreTakenOneByOneWhileTheyAreGuarded) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const Handled usual(signal, SIG_DFL);  // Whoever started this test may have them ignored.
    {
      InterruptGuard guard;
      EXPECT_TRUE(blocked(signal));
      EXPECT_FALSE(blocked(SIGUSR1));
      EXPECT_EQ(guard.take(), std::nullopt);
      ::raise(signal);
      EXPECT_EQ(guard.take(), signal);
      EXPECT_EQ(guard.take(), std::nullopt);
    }
    EXPECT_FALSE(blocked(signal)) << "all is as it was";
  }
}

TEST(Interrupts, TheEndOfATerminalThatIsIgnoredIsNone) {
  const Handled ignored(SIGHUP, SIG_IGN);
  InterruptGuard guard;
  EXPECT_FALSE(blocked(SIGHUP));
  ::raise(SIGHUP);
  EXPECT_EQ(guard.take(), std::nullopt);
}

TEST(Interrupts, ChildrenAreNotIgnoredMeanwhile) {
  const Handled ignored(SIGCHLD, SIG_IGN);
  struct sigaction now {};
  {
    const InterruptGuard guard;
    ::sigaction(SIGCHLD, nullptr, &now);
    EXPECT_EQ(now.sa_handler, SIG_DFL);
  }
  ::sigaction(SIGCHLD, nullptr, &now);
  EXPECT_EQ(now.sa_handler, SIG_IGN);
}

TEST(Interrupts, OfABodyDoAfterwardsWhatTheyWouldHaveDone) {
  const Handled counted(SIGTERM, [](int signal) { g_raised = signal; });
  g_raised = 0;
  with_interrupts([](InterruptGuard&) {});
  EXPECT_EQ(g_raised, 0);
  try {
    with_interrupts([](InterruptGuard&) { throw Interrupted{SIGTERM}; });
    ADD_FAILURE() << "a body that was interrupted has no result";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::failed);
    EXPECT_STREQ(error.what(), "interrupted by signal 15");
  }
  EXPECT_EQ(g_raised, SIGTERM);
}

}  // namespace
}  // namespace ringside
