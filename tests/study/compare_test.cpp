#include "study/compare.hpp"

#include <gmock/gmock.h>

#include "common/error.hpp"
#include "results/codec/reader.hpp"
#include "study/calibrate.hpp"
#include "tests/study/workspace.hpp"

namespace ringside::study {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

/// `measured:` of the uniform scenario: naive and ring at the larger size.
std::string with_measured(const Workspace& workspace) {
  workspace.write("log.csv",
                  "collective,algorithm,ranks,bytes,dtype,seconds\n"
                  "all_reduce,naive,4,8000000,float32,0.0050\n"
                  "all_reduce,ring,4,8000000,float32,0.0013\n");
  return std::string(kUniform) + "measured: log.csv\n";
}

TEST(CompareStudy, MeasurementsOfOthersAreScored) {
  Workspace workspace;
  const auto study = compare({.scenario = workspace.scenario("a.yaml", with_measured(workspace))},
                             workspace.invocation(), workspace.observer());
  ASSERT_TRUE(study);
  ASSERT_THAT(study->points, SizeIs(4));
  EXPECT_FALSE(study->points[0].measured);
  ASSERT_TRUE(study->points[2].measured);
  ASSERT_FALSE(study->conclusions.accuracy.empty());
  EXPECT_EQ(study->conclusions.accuracy.back().points, 2);
  EXPECT_EQ(read_results(study->file).points.size(), 4U);
}

TEST(CompareStudy, MeasurementsOfNoPointOfTheScenarioAreRefused) {
  Workspace workspace;
  std::string scenario = with_measured(workspace);
  scenario.replace(scenario.find("8 MB"), 4, "9 MB");
  try {
    compare({.scenario = workspace.scenario("a.yaml", scenario)}, workspace.invocation(),
            workspace.observer());
    FAIL() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("holds no measurement of any point of this scenario"));
  }
}

TEST(CompareStudy, PredictionsOfOthersAreNoMeasurements) {
  Workspace workspace;
  const auto earlier = compare({.scenario = workspace.scenario("a.yaml", with_measured(workspace))},
                               workspace.invocation(), workspace.observer());
  ASSERT_TRUE(earlier);
  // There 1 KiB was predicted, and the other size measured.
  std::string scenario = std::string(kUniform) + "measured: " + earlier->file.string() + "\n";
  scenario.replace(scenario.find("[1 KiB, 8 MB]"), 13, "[1 KiB]");
  try {
    compare({.scenario = workspace.scenario("b.yaml", scenario)}, workspace.invocation(),
            workspace.observer());
    FAIL() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("holds no measurement of any point of this scenario"));
  }
}

TEST(CompareStudy, AWrongResultIsNamed) {
  std::vector<Point> points(1);
  points.front().key.algorithm = "ring";
  points.front().measured = Measurement{.outcome = Outcome::wrong_result, .note = "rank 1, element 3"};
  try {
    throw_if_failed(points);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::failed);
    EXPECT_THAT(error.what(), HasSubstr("rank 1, element 3"));
  }
  points.front().measured->outcome = Outcome::ok;
  EXPECT_NO_THROW(throw_if_failed(points));
  points.front().measured->outcome = Outcome::unsupported;
  EXPECT_NO_THROW(throw_if_failed(points));
}

TEST(CompareStudy, PointsThatFailedAreNamedAndCounted) {
  std::vector<Point> points(3);
  points[0].measured = Measurement{};
  points[1].key.algorithm = "ring";
  points[1].measured = Measurement{.outcome = Outcome::failed, .note = "out of memory"};
  points[2].measured = points[1].measured;
  try {
    throw_if_failed(points);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::failed);
    EXPECT_THAT(error.what(), HasSubstr("2 of 3 points failed, first ring"));
    EXPECT_THAT(error.what(), HasSubstr("out of memory; `resume` measures them again"));
  }
}

TEST(Calibrator, ProbesThatSayTooLittleLoseNoMeasurement) {
  Workspace workspace;
  const Calibrator calibrator(
      ProbeRequest{.file = workspace.output() / "machine.yaml"});  // Has probed nothing yet.
  Machine machine;
  machine.name = "as it was";
  EXPECT_FALSE(calibrator.describe(machine, true, workspace.observer()));
  EXPECT_EQ(machine.name, "as it was");
  EXPECT_THAT(workspace.notes(), ElementsAre(HasSubstr("No prediction: the ping_pong probes")));
  EXPECT_THROW(calibrator.describe(machine, false, workspace.observer()), Error);
}

}  // namespace
}  // namespace ringside::study
