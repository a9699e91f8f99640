#include "cli/reports/next_steps.hpp"

#include <gmock/gmock.h>

#include "cli/console.hpp"

namespace ringside::cli {
namespace {

using study::PointStudy;

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

/// Naive takes 2 ms and ring 1 ms, each 1 % around it, of 1 MiB on two ranks.
PointStudy measured(Backend backend = Backend::shm) {
  PointStudy study;
  study.scenario.file = "a.yaml";
  for (const auto& [algorithm, seconds] : {std::pair("naive", 2e-3), std::pair("ring", 1e-3)}) {
    Point& point = study.points.emplace_back();
    point.key = {.algorithm = algorithm, .ranks = 2, .bytes = {1 << 20}};
    point.measured = Measurement{.seconds = {seconds}, .low = {0.99 * seconds}, .high = {1.01 * seconds}};
    point.measured->backend = backend;
  }
  return study;
}

void add_native(PointStudy& study, double seconds) {
  Point native = study.points.back();
  native.key.algorithm = "native";
  native.measured->seconds = native.measured->low = native.measured->high = {seconds};
  study.points.push_back(native);
}

std::vector<std::string> steps(PointStudy study, const std::string& command = "ringside compare a.yaml",
                               bool ended = true) {
  study.conclusions = study::conclude(study.points, false);
  return next_steps(study, command, ended);
}

TEST(NextSteps, AClearWinnerIsTriedInTraining) {
  EXPECT_THAT(steps(measured()), ElementsAre(HasSubstr("See what ring gains"),
                                             "  build/release/examples/ddp --ranks 2 --algorithm ring"));
}

TEST(NextSteps, TheLibrarysOwnIsMeasuredBesideAndKeptWhereItIsNotBeaten) {
  EXPECT_THAT(steps(measured(Backend::gloo)),
              ElementsAre(HasSubstr("Add `native` to `algorithms` in a.yaml")));
  PointStudy study = measured(Backend::gloo);
  add_native(study, 0.9e-3);
  EXPECT_THAT(steps(study), ElementsAre(HasSubstr("Train with Gloo's own all_reduce")));
  study = measured(Backend::shm);
  add_native(study, 0.9e-3);
  EXPECT_THAT(steps(study), IsEmpty()) << "no training calls what is ours";
  study = measured(Backend::mpi);
  add_native(study, 5e-3);
  study.file = "out/a/results.jsonl";
  EXPECT_THAT(steps(study),
              ElementsAre(HasSubstr("Write rules"), "  ringside tune a.yaml --machine out/a/machine.yaml"));
}

TEST(NextSteps, AStoppedRunGoesOnAsItWasTyped) {
  EXPECT_THAT(steps(measured(), "ringside measure --resume a.yaml --passes 2", false),
              testing::IsSupersetOf(
                  {testing::Matcher<std::string>(HasSubstr("stopped before its end, with 2 points")),
                   testing::Matcher<std::string>("  ringside measure --resume a.yaml --passes 2")}));
  EXPECT_THAT(steps(measured(), "ringside import a.log", false),
              Not(testing::Contains(HasSubstr("stopped"))));
}

TEST(NextSteps, WhatCannotBeToldApartIsMeasuredForLonger) {
  PointStudy study = measured();
  study.points[0].measured->seconds = {1.1e-3};
  study.points[0].measured->low = {0.9e-3};
  study.points[0].measured->high = {1.3e-3};
  EXPECT_THAT(steps(study), ElementsAre(HasSubstr("Measure each for longer (--time-per-point)")));
  study.machine.calibrated.emplace().disturbance = Disturbance{};
  EXPECT_THAT(steps(study), testing::Contains("  ringside doctor"));
}

TEST(NextSteps, BadPredictionsAreMadeBetterByWhatTheyCameFrom) {
  PointStudy study = measured();
  for (Point& point : study.points) {
    point.predicted.emplace().seconds = {3e-3};
    point.predicted->source = CostSource::calibrated;
  }
  study.machine.calibrated.emplace();
  EXPECT_THAT(steps(study), testing::Contains(HasSubstr("--calibrate-time")));
  for (Point& point : study.points) {
    point.predicted->source = CostSource::spec;
  }
  study.machine.calibrated.reset();
  EXPECT_THAT(steps(study), testing::Contains("  ringside calibrate"));
  study.machine.gpu.emplace();
  EXPECT_THAT(steps(study),
              testing::Contains(
                  "  ringside predict a.yaml --known '{ring: {ranks: 2, bytes: 1 MiB, seconds: 1 ms}}'"));
  for (Point& point : study.points) {
    point.predicted->seconds = point.measured->seconds;
  }
  EXPECT_THAT(steps(study), SizeIs(2));  // The winner, and no word on predictions.
}

TEST(NextSteps, WhatWasOnlyPredictedIsMeasured) {
  PointStudy study = measured();
  for (Point& point : study.points) {
    point.predicted.emplace().seconds = {1e-3};
    point.measured.reset();
  }
  EXPECT_THAT(steps(study, "ringside predict a.yaml"), IsEmpty());
  EXPECT_THAT(next_steps(study, "ringside predict a.yaml#b", true, true),
              ElementsAre(HasSubstr("Nothing was measured"), "  ringside compare a.yaml#b"));
  EXPECT_THAT(next_steps({}, "ringside predict a.yaml", true), IsEmpty());
}

TEST(Sentences, AreBrokenBetweenWordsAndWhatPeopleCopyIsNot) {
  EXPECT_EQ(sentence_within("ring wins here", 10), "ring wins\nhere");
  EXPECT_EQ(sentence_within("ring wins here", std::nullopt), "ring wins here");
  for (const char* copied : {"  ringside predict a.yaml", "{\"record\": \"point\"}", "- {name: a plan}",
                             "# a remark of YAML", "ranks: [2, 4]\nmessage_sizes: 1 MiB"}) {
    EXPECT_EQ(sentence_within(copied, 10), copied);
  }
}

}  // namespace
}  // namespace ringside::cli
