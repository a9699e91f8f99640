#include "common/programs.hpp"

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

}  // namespace
}  // namespace ringside
