// What the system interrupts or refuses: this program's own write() counts before the C library's.

#include <cerrno>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "results/codec/reader.hpp"
#include "results/journal.hpp"
#include "tests/results/examples.hpp"

namespace {
int interruptions = 0;  ///< So many writes from now on are interrupted.
}  // namespace

extern "C" ssize_t write(int file, const void* data, size_t size) {
  if (interruptions > 0) {
    --interruptions;
    errno = EINTR;
    return -1;
  }
  return ::syscall(SYS_write, file, data, size);
}

namespace ringside {
namespace {

TEST(Journal, AnInterruptedWriteIsMadeAgain) {
  const examples::ScratchFolder folder;
  Journal journal = Journal::create(folder / "results.jsonl", examples::header());
  interruptions = 3;
  journal.append(Accuracy{.points = 1});
  EXPECT_EQ(interruptions, 0) << "the journal was written by it";
  EXPECT_EQ(read_text(folder / "results.jsonl"),
            to_line(examples::header()) + '\n' + to_line(Accuracy{.points = 1}) + '\n');
}

TEST(Journal, MeasurementsThatCannotBeMovedAsideAreNotTakenForMoved) {
  namespace fs = std::filesystem;
  const examples::ScratchFolder folder;
  const fs::path below = folder / "below";
  const fs::path file = below / "results.jsonl";
  fs::create_directory(below);
  Journal::create(file, examples::header()).append(examples::full_point());
  fs::permissions(folder / "", fs::perms(0755));
  fs::permissions(file, fs::perms(0666));
  fs::permissions(below, fs::perms(0555));
  // To root nothing is refused: a process of its own gives that up.
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    const bool given_up = ::geteuid() != 0 || ::setuid(kNobody) == 0;
    const std::string said = examples::message_of(ErrorKind::bad_input, [&] { keep_measurements(file, {}); });
    const bool refused = said.starts_with("cannot write " + (below / "results-").string()) &&
                         said.ends_with(": Permission denied");
    ::_exit(!given_up ? 2 : refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  fs::permissions(below, fs::perms(0755));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 2) {
    GTEST_SKIP() << "root cannot become nobody here";
  }
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_TRUE(fs::exists(file));
}

}  // namespace
}  // namespace ringside
