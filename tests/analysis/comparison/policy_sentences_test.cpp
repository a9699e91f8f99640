#include <gmock/gmock.h>

#include "analysis/comparison/point_sentences.hpp"

namespace ringside {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Point ring(std::int64_t bytes, const ExecutionPolicy& predicted, const ExecutionPolicy& measured) {
  Point point;
  point.key = {.algorithm = "ring", .ranks = 4, .bytes = {bytes}};
  point.predicted = Prediction{};
  point.predicted->policy = predicted;
  point.measured = Measurement{};
  point.measured->policy = measured;
  return point;
}

const ExecutionPolicy kWhole = {};
const ExecutionPolicy kSegments = {.segments = 4, .stride = 4, .in_flight = 2};

TEST(PolicySentences, NothingWhereBothSidesAreAlike) {
  EXPECT_THAT(policy_sentences(std::vector{ring(1024, kWhole, kWhole)}), IsEmpty());
}

TEST(PolicySentences, NothingWhereASideSaysNone) {
  Point point = ring(1024, kWhole, kSegments);
  point.predicted->policy.reset();
  EXPECT_THAT(policy_sentences(std::vector{point}), IsEmpty());
  EXPECT_FALSE(policies_differ(point));
}

TEST(PolicySentences, ADifferenceIsSaidOnceWithItsSizes) {
  EXPECT_THAT(
      policy_sentences(std::vector{ring(1024, kWhole, kSegments), ring(4096, kWhole, kSegments)}),
      ElementsAre("ring on 4 ranks, 1 KiB to 4 KiB: predicted for receives posted with their round, whole "
                  "chunks, but "
                  "measured with receives posted with their round, each chunk in 4 segments, 2 in flight"));
}

TEST(PolicySentences, WhatDoesNotRunHasNoPolicyToCompare) {
  Point point = ring(1024, kWhole, kSegments);
  point.measured->outcome = Outcome::failed;
  EXPECT_FALSE(policies_differ(point));
}

}  // namespace
}  // namespace ringside
