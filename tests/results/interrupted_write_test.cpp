// write() interrupted by a signal: this program's own counts before the C library's.

#include <cerrno>

#include <gtest/gtest.h>
#include <sys/syscall.h>
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

}  // namespace
}  // namespace ringside
