#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/comparison/point_sentences.hpp"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> said(const std::vector<AlgorithmNics>& predicted) {
  return nic_sentences(predicted);
}

TEST(NicSentences, NameWhoLeavesNicsIdle) {
  EXPECT_THAT(said({{"naive", {1, 4}}, {"ring", {1, 4}}, {"hierarchical", {4, 4}}}),
              ElementsAre("naive, ring use 1 of the 4 NICs of a node"));
  EXPECT_THAT(said({{"ring", {1, 1}}, {"native", {4, 4}}}), IsEmpty());
  EXPECT_THAT(said({}), IsEmpty());
}

TEST(NicSentences, OfManyPredictionsNameEachAlgorithmOncePerKindOfNode) {
  EXPECT_THAT(said({{"ring", {1, 4}}, {"ring", {1, 8}}, {"ring", {1, 4}}, {"ring", {2, 16}}}),
              ElementsAre("ring uses 1 of the 4 NICs of a node", "ring uses 1 of the 8 NICs of a node",
                          "ring uses 2 of the 16 NICs of a node"));
  EXPECT_THAT(
      said({{"direct", {2, 8}}, {"ring", {1, 8}}, {"direct", {8, 8}}}),
      ElementsAre("ring uses 1 of the 8 NICs of a node", "direct uses 2 to 8 of the 8 NICs of a node"));
}

TEST(NicSentences, ARangeHoldsTheLeastAndTheMostInAnyOrder) {
  for (const auto& counts : {std::vector{2, 4, 3}, {4, 2, 3}, {3, 4, 2}}) {
    std::vector<AlgorithmNics> predicted;
    for (const int used : counts) {
      predicted.push_back({"direct", {used, 8}});
    }
    EXPECT_THAT(said(predicted), ElementsAre("direct uses 2 to 4 of the 8 NICs of a node"));
  }
}

TEST(NicSentences, SayThatNativeUsesThemAllOnNodesOfTheSameKind) {
  EXPECT_THAT(
      said({{"ring", {1, 4}}, {"ring", {1, 8}}, {"native", {8, 8}}}),
      ElementsAre("ring uses 1 of the 4 NICs of a node",
                  "ring uses 1 of the 8 NICs of a node, native all 8: NCCL runs several rings or trees "
                  "at once that leave a node through different NICs"));
}

}  // namespace
}  // namespace ringside
