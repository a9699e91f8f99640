#include "study/trace.hpp"

#include <gmock/gmock.h>

#include "common/error.hpp"
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
    EXPECT_TRUE(std::filesystem::exists(timeline.file)) << timeline.file;
  }
}

TEST(TraceStudy, TooManyRanksAreRefused) {
  Workspace workspace;
  EXPECT_THROW(trace({.scenario = workspace.scenario("a.yaml", kUniform), .ranks = kMostTracedRanks + 1},
                     workspace.invocation(), workspace.observer()),
               Error);
}

}  // namespace
}  // namespace ringside::study
