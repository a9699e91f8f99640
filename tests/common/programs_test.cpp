#include "common/programs.hpp"

#include <cstdlib>
#include <string>
#include <utility>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "common/file_descriptor.hpp"

namespace ringside {
namespace {

TEST(Programs, AreFoundAsAShellFindsThem) {
  EXPECT_EQ(path_of_program("/bin/sh"), "/bin/sh");
  const std::string found = path_of_program("sh");
  EXPECT_TRUE(found.ends_with("/sh")) << found;
  EXPECT_EQ(path_of_program("no-such-program"), "");
  EXPECT_EQ(path_of_program("/bin/no-such-program"), "");
}

TEST(Programs, AreThoseOfTheFirstFolderThatHasThem) {
  const std::string before = std::getenv("PATH");
  ::setenv("PATH", "/no-such-folder::/bin:/usr/bin", 1);
  EXPECT_EQ(path_of_program("sh"), "/bin/sh");
  ::setenv("PATH", "/usr/bin", 1);
  EXPECT_EQ(path_of_program("sh"), "/usr/bin/sh");
  ::setenv("PATH", ":", 1);
  EXPECT_EQ(path_of_program("sh"), "");
  ::unsetenv("PATH");
  EXPECT_EQ(path_of_program("sh"), "");
  ::setenv("PATH", before.c_str(), 1);
}

bool is_open(int number) { return ::fcntl(number, F_GETFD) >= 0; }

TEST(FileDescriptor, IsClosedByItsOneOwner) {
  FileDescriptor none;
  EXPECT_FALSE(none.open());
  EXPECT_EQ(none.number(), -1);
  const int number = ::open("/dev/null", O_RDONLY);
  {
    FileDescriptor first(number);
    EXPECT_TRUE(first.open());
    FileDescriptor second(std::move(first));
    EXPECT_EQ(first.number(), -1);  // NOLINT(bugprone-use-after-move)
    none = std::move(second);
    EXPECT_FALSE(second.open());  // NOLINT(bugprone-use-after-move)
  }
  EXPECT_TRUE(is_open(number));
  EXPECT_EQ(none.number(), number);
  none.close();
  EXPECT_EQ(none.number(), -1);
  EXPECT_FALSE(is_open(number));
  FileDescriptor given(::open("/dev/null", O_RDONLY));
  const int released = given.release();
  EXPECT_EQ(given.number(), -1);
  EXPECT_TRUE(is_open(released));
  { const FileDescriptor owner(released); }
  EXPECT_FALSE(is_open(released));
  FileDescriptor standard_input(0);
  EXPECT_TRUE(standard_input.open());
  standard_input.release();
}

}  // namespace
}  // namespace ringside
