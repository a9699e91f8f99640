// A test program that is its own rank: its ranks are started as `PROGRAM rank …`.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "real/rank_program.hpp"

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (!arguments.empty() && arguments.front() == "rank") {
    return ringside::run_rank(std::span(arguments).subspan(1));
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
