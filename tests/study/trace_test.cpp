#include "study/trace.hpp"

#include <gmock/gmock.h>

#include "common/error.hpp"
#include "results/codec/reader.hpp"
#include "tests/study/workspace.hpp"

namespace ringside::study {
namespace {

TEST(TraceStudy, EveryAlgorithmHasATimelineInAFile) {
  Workspace workspace;
  const auto study = trace({.scenario = workspace.scenario("a.yaml", kUniform)}, workspace.invocation(),
                           workspace.observer());
  ASSERT_TRUE(study);
  ASSERT_EQ(study->timelines.size(), 2U);
  for (const Timeline& timeline : study->timelines) {
    ASSERT_TRUE(timeline.simulated);
    EXPECT_FALSE(timeline.simulated->events.empty());
    EXPECT_FALSE(timeline.recorded);
    const std::string text = read_text(timeline.file);
    for (const char* part : {"rank 0", "rank 3", "0 → 1", "3 → 0", "\"ph\": \"X\""}) {
      EXPECT_THAT(text, testing::HasSubstr(part)) << timeline.key.algorithm;
    }
  }
}

TEST(TraceStudy, TooManyRanksAreRefused) {
  Workspace workspace;
  EXPECT_THROW(trace({.scenario = workspace.scenario("a.yaml", kUniform), .ranks = 257},
                     workspace.invocation(), workspace.observer()),
               Error);
}

}  // namespace
}  // namespace ringside::study
