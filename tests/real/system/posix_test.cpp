#include "real/system/posix.hpp"

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "common/error.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

TEST(LineBuffer, GivesWholeLinesInOrder) {
  LineBuffer buffer;
  EXPECT_EQ(buffer.next(), std::nullopt);
  buffer.append("one\n\ntw", 7);
  EXPECT_EQ(buffer.next(), "one");
  EXPECT_EQ(buffer.next(), "");
  EXPECT_EQ(buffer.next(), std::nullopt);
  buffer.append("o\nrest", 2);
  EXPECT_EQ(buffer.next(), "two");
  EXPECT_EQ(buffer.next(), std::nullopt);
}

TEST(Secret, HasAllLettersAndIsAnotherEachTime) {
  std::set<char> letters;
  std::set<std::string> secrets;
  for (int i = 0; i < 100; ++i) {
    const Secret secret = make_secret();
    letters.insert(secret.begin(), secret.end());
    secrets.emplace(secret.begin(), secret.end());
  }
  EXPECT_EQ(std::string(letters.begin(), letters.end()), "0123456789abcdef");
  EXPECT_EQ(secrets.size(), 100U);
}

TEST(ProcessState, StandsBehindTheLastParenthesisOfTheName) {
  const TemporaryDirectory directory;
  const auto state = [&](const std::string& text) {
    std::ofstream(directory.path() / "stat") << text;
    return process_state(directory.path());
  };
  EXPECT_EQ(state("12 (sh) S 1 2"), 'S');
  EXPECT_EQ(state("12 (a) b (c) R 1 2"), 'R');
  EXPECT_EQ(state("12 (sh) T"), 'T');
  EXPECT_EQ(state("12 (sh) "), '\0');
  EXPECT_EQ(state("12 sh S 1"), '\0');
  EXPECT_EQ(state(""), '\0');
  EXPECT_EQ(process_state(directory.path() / "nobody"), '\0');
  EXPECT_EQ(process_state("/proc/self"), 'R');
}

TEST(ErrnoText, IsThatOfTheLastError) {
  errno = ENOENT;
  EXPECT_EQ(errno_text(), "No such file or directory");
}

/// Where temporary directories are, as long as it lives.
class TemporaryParent {
 public:
  TemporaryParent() { ::setenv("TMPDIR", parent_.path().c_str(), 1); }
  ~TemporaryParent() { before_.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", before_.c_str(), 1); }
  TemporaryParent(const TemporaryParent&) = delete;
  TemporaryParent& operator=(const TemporaryParent&) = delete;
  const fs::path& path() const { return parent_.path(); }

  fs::path make(const std::string& name, std::time_t seconds_ago, mode_t mode = 0700) const {
    const fs::path folder = path() / name;
    fs::create_directory(folder);
    std::ofstream(folder / "0") << "address";
    ::chmod(folder.c_str(), mode);
    const timespec time = {.tv_sec = std::time(nullptr) - seconds_ago, .tv_nsec = 0};
    const timespec both[] = {time, time};
    ::utimensat(AT_FDCWD, folder.c_str(), both, 0);
    return folder;
  }

 private:
  std::string before_ = std::getenv("TMPDIR") != nullptr ? std::getenv("TMPDIR") : "";
  TemporaryDirectory parent_;
};

TEST(TemporaryDirectory, IsItsOwnersAloneAndGoesWithAllThatIsInIt) {
  const TemporaryParent parent;
  fs::path path;
  {
    TemporaryDirectory directory;
    path = directory.path();
    EXPECT_EQ(path.parent_path(), parent.path());
    EXPECT_THAT(path.filename().string(), ::testing::MatchesRegex("ringside-ranks-[A-Za-z0-9]+"));
    EXPECT_EQ(path.filename().string().size(), std::string_view("ringside-ranks-XXXXXX").size());
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
    std::ofstream(path / "file") << "text";
    directory.remove();
    EXPECT_FALSE(fs::exists(path));
    fs::create_directory(path);
    std::ofstream(path / "file") << "text";
  }
  EXPECT_FALSE(fs::exists(path));
  ::setenv("TMPDIR", "/no/such/folder", 1);
  EXPECT_THAT([] { TemporaryDirectory(); },
              ThrowsMessage<Error>(StartsWith("TMPDIR names no directory for temporary files: ")));
}

TEST(TemporaryDirectory, OnlyWhatIsForsakenForAMinuteIsRemovedByTheNext) {
  const TemporaryParent parent;
  struct Row {
    std::string name;
    std::time_t seconds_ago;
    mode_t mode;
    bool stays;
  };
  const std::vector<Row> rows = {
      {"ringside-ranks-oldone", 61, 0700, false}, {"ringside-ranks-at60s_", 60, 0700, true},
      {"ringside-ranks-opened", 600, 0755, true}, {"ringside-ranks-longer7", 600, 0700, true},
      {"ringside-ranks-short", 600, 0700, true},  {"another-ranks-abcdefg", 600, 0700, true}};
  std::time_t begin = 0;
  do {  // Until no second ends between the making and the look.
    begin = std::time(nullptr);
    for (const Row& row : rows) {
      parent.make(row.name, row.seconds_ago, row.mode);
    }
    const TemporaryDirectory next;
  } while (std::time(nullptr) != begin);
  for (const Row& row : rows) {
    EXPECT_EQ(fs::exists(parent.path() / row.name), row.stays) << row.name;
  }
}

}  // namespace
}  // namespace ringside
