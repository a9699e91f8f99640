#include "real/execute/memory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include <gtest/gtest.h>

namespace ringside {
namespace {

TEST(OwnMemory, IsZeroAndBeginsAtAPageHoweverItWasUsedBefore) {
  for (const std::int64_t size : {1, 100, 4096, 5000}) {
    for (int use = 0; use < 3; ++use) {  // The heap gives the same place again.
      const OwnMemory memory(size);
      ASSERT_EQ(memory.bytes().size(), static_cast<std::size_t>(size));
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.bytes().data()) % 4096, 0U);
      EXPECT_TRUE(std::ranges::all_of(memory.bytes(), [](std::byte byte) { return byte == std::byte{0}; }));
      std::memset(memory.bytes().data(), 0xFF, memory.bytes().size());
    }
  }
  EXPECT_EQ(OwnMemory(0).bytes().data(), nullptr);
  EXPECT_EQ(OwnMemory().bytes().data(), nullptr);
}

TEST(OwnMemory, OfSomebodyElseIsGivenBackOnce) {
  std::byte place[3];
  int given_back = 0;
  {
    OwnMemory memory(std::span<std::byte>(place),
                     [&](std::byte* first) { given_back += first == place ? 1 : 100; });
    const OwnMemory moved = std::move(memory);
    EXPECT_EQ(moved.bytes().data(), place);
    EXPECT_EQ(moved.bytes().size(), 3U);
    EXPECT_EQ(given_back, 0);
  }
  EXPECT_EQ(given_back, 1);
}

}  // namespace
}  // namespace ringside
