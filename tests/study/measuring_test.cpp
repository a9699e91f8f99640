// Studies that measure: ranks are threads of this process.

#include <string>

#include <gmock/gmock.h>

#include "analysis/fit.hpp"
#include "results/codec/reader.hpp"
#include "study/calibrate.hpp"
#include "study/compare.hpp"
#include "study/ranks/launch.hpp"
#include "tests/study/workspace.hpp"

namespace ringside::study {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Gt;
using testing::HasSubstr;
using testing::Lt;
using testing::Not;
using testing::SizeIs;

constexpr std::string_view kHere =
    "name: here\n"
    "algorithms: [naive, ring]\n"
    "ranks: 2\n"
    "message_sizes: [4 KiB, 64 KiB]\n"
    "machine: this\n";

CompareRequest here(const Workspace& workspace, std::string_view scenario = kHere) {
  return {.scenario = workspace.scenario("here.yaml", scenario),
          .repetitions = 1,
          .launch = {.time_per_point = {0.02}, .calibrate_time = {0.3}, .backend = Backend::threads}};
}

TEST(LaunchOptions, NcclIsToldWhatTheMachineFileForces) {
  const auto told = [](const Software& software) {
    return launch_options({}, Backend::nccl, software).gpu.settings;
  };
  EXPECT_THAT(told({}), testing::IsEmpty());
  EXPECT_THAT(told({.nccl_algo = "Ring", .nccl_proto = "LL128"}),
              testing::ElementsAre(testing::Pair("NCCL_ALGO", "Ring"), testing::Pair("NCCL_PROTO", "LL128")));
}

TEST(MeasuringStudy, TheMachineThatWasProbedIsInTheJournal) {
  Workspace workspace;
  const auto study = compare(here(workspace), workspace.invocation(), workspace.observer());
  ASSERT_TRUE(study);
  const auto header = read_results(study->file).header;
  ASSERT_TRUE(header.machine.has_value());
  EXPECT_TRUE(header.machine->this_machine);
  EXPECT_THAT(header.machine->yaml, HasSubstr("calibrated:"));
}

TEST(MeasuringStudy, AFinishedRunThatIsResumedProbesNoMore) {
  Workspace workspace;
  CompareRequest request = here(workspace);
  compare(request, workspace.invocation(), workspace.observer());
  EXPECT_THAT(workspace.stages(), Contains(HasSubstr("calibrating")));
  Workspace again;
  request.resume = true;
  const auto study = compare(request, workspace.invocation(), again.observer());
  ASSERT_TRUE(study);
  EXPECT_THAT(study->points, SizeIs(4));
  EXPECT_THAT(again.stages(), Not(Contains(HasSubstr("calibrating"))));
}

TEST(MeasuringStudy, ProgressReachesTheWholeAndPassesWhatLiesBetween) {
  Workspace workspace;
  CompareRequest request = here(workspace);
  request.predicts = false;
  compare(request, workspace.invocation(), workspace.observer());
  ASSERT_FALSE(workspace.fractions().empty());
  EXPECT_EQ(workspace.fractions().back(), 1);
  EXPECT_THAT(workspace.fractions(), Contains(AllOf(Gt(0), Lt(1))));
}

TEST(MeasuringStudy, MeasuringMeasuresWhateverOthersHave) {
  Workspace workspace;
  workspace.write("log.csv",
                  "collective,algorithm,ranks,bytes,dtype,seconds\n"
                  "all_reduce,ring,2,4096,float32,1234\n");
  CompareRequest request = here(workspace, std::string(kHere) + "measured: log.csv\n");
  request.predicts = false;
  const auto study = compare(request, workspace.invocation(), workspace.observer());
  ASSERT_TRUE(study);
  for (const Point& point : study->points) {
    ASSERT_TRUE(point.measured) << point.key.algorithm;
    EXPECT_LT(point.measured->seconds.value, 1000);
  }
}

TEST(MeasuringStudy, RanksAreAskedForWhatTheUserWants) {
  Invocation invocation;
  invocation.seed = 17;
  CompareRequest request;
  request.repetitions = 4;
  request.launch.time_per_point = {0.25};
  const MeasureOptions options = measure_options(request, invocation, {.timeout = std::chrono::seconds(7)});
  EXPECT_EQ(options.seed, 17U);
  EXPECT_EQ(options.repetitions, 4);
  EXPECT_EQ(options.budget_per_point.value, 0.25);
  EXPECT_EQ(options.launch.timeout, std::chrono::seconds(7));
  EXPECT_TRUE(options.check_every_call);
  request.check_every_call = false;
  EXPECT_FALSE(measure_options(request, invocation, {}).check_every_call);
}

TEST(CalibrateStudy, TenSecondsAreEnoughForRepetitions) {
  EXPECT_EQ(probe_options({}, {9.9}, {2}, {}).repetitions, 1);
  EXPECT_GT(probe_options({}, {10}, {2}, {}).repetitions, 1);
}

TEST(CalibrateStudy, ProbesReachTheLargestMessageWithinReason) {
  const auto largest = [](std::int64_t bytes, Backend backend = Backend::gloo) {
    Scenario scenario;
    scenario.message_sizes = {{4}, {bytes}};
    return largest_probe(scenario, backend).value;
  };
  EXPECT_EQ(largest(1000), 1 << 20);
  EXPECT_EQ(largest(5 << 20), 5 << 20);
  EXPECT_EQ(largest(std::int64_t{1} << 40), ProbeOptions{}.max_bytes.value);
  EXPECT_EQ(largest(std::int64_t{1} << 40, Backend::shm), 2 * ProbeOptions{}.max_bytes.value);
}

TEST(CalibrateStudy, ProbesThatContradictEachOtherAreMadeAgain) {
  const auto ping_pong = [](std::int64_t bytes, double seconds) {
    return ProbeSample{.key = {.kind = ProbeKind::ping_pong, .ranks = 2, .bytes = {bytes}},
                       .seconds = {seconds}};
  };
  EXPECT_TRUE(probes_again(std::vector{ping_pong(8, 5e-3), ping_pong(1 << 20, 4e-3)}));
  EXPECT_FALSE(probes_again(std::vector{ping_pong(8, 1e-3), ping_pong(1 << 20, 4e-3)}));
}

TEST(CalibrateStudy, TheLoadIsTheMeanOverAllSpells) {
  const Disturbance before{.other_load = 1, .stolen = 0.2, .throttled = 0};
  const Disturbance now{.other_load = 2, .stolen = 0, .throttled = 0.4};
  const Disturbance mean = mean_load(before, 3, now, 1);
  EXPECT_DOUBLE_EQ(mean.other_load, 1.25);
  EXPECT_DOUBLE_EQ(mean.stolen, 0.15);
  EXPECT_DOUBLE_EQ(mean.throttled, 0.1);
}

}  // namespace
}  // namespace ringside::study
