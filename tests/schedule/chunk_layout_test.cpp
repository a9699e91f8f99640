#include "schedule/chunk_layout.hpp"

#include <gtest/gtest.h>

#include "common/error.hpp"

namespace ringside {
namespace {

TEST(ChunkLayout, CutsEvenlyWithTheLargerChunksFirst) {
  const ChunkLayout layout(10, 4);
  EXPECT_EQ(layout.elements(0), (ElementRange{0, 3}));
  EXPECT_EQ(layout.elements(1), (ElementRange{3, 3}));
  EXPECT_EQ(layout.elements(2), (ElementRange{6, 2}));
  EXPECT_EQ(layout.elements(3), (ElementRange{8, 2}));
}

TEST(ChunkLayout, GivesNeighbouringChunksAsOneRange) {
  const ChunkLayout layout(10, 4);
  EXPECT_EQ(layout.elements(1, 2), (ElementRange{3, 5}));
  EXPECT_EQ(layout.elements(0, 4), (ElementRange{0, 10}));
  EXPECT_EQ(layout.elements(4, 0), (ElementRange{10, 0}));
}

TEST(ChunkLayout, LeavesChunksEmptyWhenThereAreFewElements) {
  const ChunkLayout layout(2, 5);
  EXPECT_EQ(layout.elements(1), (ElementRange{1, 1}));
  EXPECT_EQ(layout.elements(2), (ElementRange{2, 0}));
  EXPECT_EQ(ChunkLayout(0, 3).elements(0, 3), (ElementRange{0, 0}));
}

TEST(ChunkLayout, CoversEveryElementOnceWithSizesThatDifferByOneAtMost) {
  for (const std::int64_t elements : {0, 1, 2, 7, 12, 13, 97, 1'000'003}) {
    for (const std::int32_t chunks : {1, 2, 3, 7, 12, 64, 101}) {
      const ChunkLayout layout(elements, chunks);
      std::int64_t next = 0;
      for (std::int32_t chunk = 0; chunk < chunks; ++chunk) {
        const ElementRange range = layout.elements(chunk);
        ASSERT_EQ(range.first, next) << elements << " elements in " << chunks << " chunks";
        ASSERT_GE(range.count, elements / chunks);
        ASSERT_LE(range.count, elements / chunks + 1);
        next += range.count;
      }
      EXPECT_EQ(next, elements);
    }
  }
}

TEST(ChunkLayout, HoldsMessagesOfMoreThanFourGibiElements) {
  const std::int64_t elements = std::int64_t{5} << 40;
  const ChunkLayout layout(elements, 16'384);
  EXPECT_EQ(layout.elements(16'383).first + layout.elements(16'383).count, elements);
}

TEST(ChunkLayout, RefusesNonsense) {
  EXPECT_THROW(ChunkLayout(-1, 1), Bug);
  EXPECT_THROW(ChunkLayout(1, 0), Bug);
}

}  // namespace
}  // namespace ringside
