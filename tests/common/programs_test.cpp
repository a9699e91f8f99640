#include "common/programs.hpp"

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace ringside
