#include "common/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace ringside {

namespace {

TEST(InParallel, EveryNumberIsCalledOnce) {
  std::vector<int> calls(1'000, 0);
  for_each_in_parallel(calls.size(), [&](std::size_t i) { ++calls[i]; });
  EXPECT_EQ(std::count(calls.begin(), calls.end(), 1), 1'000);
  for_each_in_parallel(0, [](std::size_t) { FAIL(); });
}

TEST(InParallel, OneNumberIsCalledToo) {
  std::vector<std::size_t> calls;
  for_each_in_parallel(1, [&](std::size_t i) { calls.push_back(i); });
  EXPECT_EQ(calls, std::vector<std::size_t>{0});
}

TEST(InParallel, AfterAnErrorNoThreadBeginsAnotherCall) {
  std::atomic<unsigned> calls = 0;
  EXPECT_THROW(for_each_in_parallel(100'000,
                                    [&](std::size_t) {
                                      ++calls;
                                      throw std::runtime_error("always");
                                    }),
               std::runtime_error);
  EXPECT_LE(calls, std::max(1U, std::thread::hardware_concurrency()));
}

TEST(InParallel, TheFirstErrorIsThrown) {
  for (int trial = 0; trial < 100; ++trial) {
    try {
      for_each_in_parallel(100, [](std::size_t i) {
        if (i >= 7) {
          throw std::runtime_error(std::to_string(i));
        }
      });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "7");
    }
  }
}

}  // namespace

}  // namespace ringside
