#include "study/predict.hpp"

#include <gmock/gmock.h>

#include "common/error.hpp"
#include "results/codec/reader.hpp"
#include "tests/study/workspace.hpp"

namespace ringside::study {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(PredictStudy, EveryPointIsPredictedAndInTheJournal) {
  Workspace workspace;
  const PointStudy study = predict({.scenario = workspace.scenario("a.yaml", kUniform)},
                                   workspace.invocation(), workspace.observer());
  ASSERT_THAT(study.points, SizeIs(4));
  for (const Point& point : study.points) {
    EXPECT_TRUE(point.predicted) << point.key.algorithm;
    EXPECT_FALSE(point.measured);
  }
  EXPECT_EQ(study.file, workspace.output() / "predictions.jsonl");
  EXPECT_THAT(read_results(study.file).points, SizeIs(4));
  EXPECT_THAT(workspace.notes(), IsEmpty());
}

TEST(PredictStudy, RanksThatFillTheirNodesNeedNoWord) {
  Workspace workspace;
  const std::string machine = std::string(kUniform) + "  gpus_per_node: 4\n";
  predict({.scenario = workspace.scenario("a.yaml", machine)}, workspace.invocation(), workspace.observer());
  EXPECT_THAT(workspace.notes(), IsEmpty());
  const std::string larger = std::string(kUniform) + "  gpus_per_node: 8\n";
  predict({.scenario = workspace.scenario("b.yaml", larger)}, workspace.invocation(), workspace.observer());
  EXPECT_THAT(workspace.notes(), testing::Contains("4 ranks stand on the first 4 of one node's 8 GPUs."));
}

TEST(PredictStudy, OtherPoliciesThanPredictedAreTold) {
  std::vector<Point> points(1);
  Point& point = points.front();
  point.key = {.algorithm = "ring", .ranks = 4, .bytes = {8 << 20}};
  point.predicted.emplace().seconds = {1e-3};
  point.predicted->policy = ExecutionPolicy{};
  ExecutionPolicy other;
  other.segments = 4;
  point.measured.emplace().seconds = {1e-3};
  point.measured->policy = other;
  EXPECT_THAT(conclude(points, false).sentences, testing::Contains(HasSubstr("ring on 4 ranks, 8 MiB: ")));
}

TEST(PredictStudy, RingWinsLargeMessagesOnPrivateLinks) {
  Workspace workspace;
  const PointStudy study = predict({.scenario = workspace.scenario("a.yaml", kUniform)},
                                   workspace.invocation(), workspace.observer());
  ASSERT_TRUE(study.conclusions.pair);
  EXPECT_EQ(study.conclusions.pair->candidate, "ring");
  ASSERT_FALSE(study.conclusions.sentences.empty());
  EXPECT_THAT(study.conclusions.sentences.front(), HasSubstr("ring"));
  EXPECT_THAT(study.conclusions.accuracy, IsEmpty());
}

TEST(PredictStudy, TheGridHasTheRanksOfTheScenario) {
  Workspace workspace;
  const PointStudy study =
      predict({.scenario = workspace.scenario("a.yaml", std::string(kUniform) + "  gpus_per_node: 4\n")},
              workspace.invocation(), workspace.observer());
  const std::optional<SpeedupGrid> grid = speedup_grid(study);
  ASSERT_TRUE(grid);
  EXPECT_THAT(grid->ranks, testing::ElementsAre(4));
  EXPECT_EQ(grid->speedup.size(), grid->ranks.size());
}

TEST(PredictStudy, WhatIsKnownAndBearsOnNothingIsRefused) {
  Workspace workspace;
  const PredictRequest request{.scenario = workspace.scenario("a.yaml", kUniform),
                               .native = {.known = {"{native: {ranks: 4, bytes: 1 GiB, seconds: 95 ms}}"}}};
  try {
    predict(request, workspace.invocation(), workspace.observer());
    FAIL() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    EXPECT_THAT(error.what(), HasSubstr("the machine names no `gpu`"));
  }
}

constexpr std::string_view kTwoA100 =
    "name: native\nalgorithms: [ring, native]\nranks: 2\nmessage_sizes: [8 MB]\nbackend: nccl\n"
    "machine: {gpu: {model: A100-SXM4-40GB}, gpus_per_node: 8, intra: {kind: nvlink, generation: 3, switch: "
    "true}";

TEST(PredictStudy, ATimeOfAnAlgorithmSharpensAllPredictions) {
  Workspace workspace;
  const PredictRequest request{.scenario = workspace.scenario("a.yaml", std::string(kTwoA100) + "}\n"),
                               .native = {.known = {"{ring: {ranks: 4, bytes: 1 GiB, seconds: 95 ms}}"}}};
  for (const Point& point : predict(request, workspace.invocation(), workspace.observer()).points) {
    EXPECT_EQ(point.predicted->source, CostSource::spec_plus_known) << point.key.algorithm;
  }
}

constexpr std::string_view kTwoNodes =
    "algorithms: [ring, native]\nranks: 16\nmessage_sizes: [8 MB]\nbackend: nccl\n"
    "machine: {gpu: {model: A100-SXM4-40GB}, nodes: 2, gpus_per_node: 8, "
    "intra: {kind: nvlink, generation: 3, switch: true}, inter: {kind: infiniband, rate: 200 Gb/s, nics: 8}";

TEST(PredictStudy, OfSeveralKnownTimesOneThatBearsOnSomethingIsEnough) {
  Workspace workspace;
  const std::string useful = "{native: {ranks: 16, bytes: 1 GiB, seconds: 95 ms}}";
  const std::string useless = "{native: {ranks: 8, bytes: 1 GiB, seconds: 95 ms}}";
  const auto predicted = [&](const std::vector<std::string>& known) {
    return predict({.scenario = workspace.scenario("a.yaml", std::string(kTwoNodes) + "}\n"),
                    .native = {.known = known}},
                   workspace.invocation(), workspace.observer());
  };
  EXPECT_NO_THROW(predicted({useful + ", " + useless}));
  EXPECT_THROW(predicted({useful, useless}), Error);
}

TEST(PredictStudy, AValueOfTheMachineFileThatBearsOnNothingIsRefused) {
  Workspace workspace;
  const PredictRequest request{
      .scenario = workspace.scenario(
          "a.yaml",
          std::string(kTwoNodes) + ", known: [{native: {ranks: 8, bytes: 1 GiB, seconds: 95 ms}}]}\n")};
  EXPECT_THAT([&] { predict(request, workspace.invocation(), workspace.observer()); },
              testing::ThrowsMessage<Error>(HasSubstr("known: native of 1 GiB on 8 ranks: affects none")));
}

TEST(PredictStudy, RanksThatAllStandOnOneOfTwoNodesAreRefused) {
  Workspace workspace;
  try {
    predict({.scenario = workspace.scenario(
                 "a.yaml", std::string(kUniform) + "  gpus_per_node: 8\n  nodes: 2\n"
                                                   "  inter: {kind: infiniband, rate: 200 Gb/s, nics: 1}\n")},
            workspace.invocation(), workspace.observer());
    FAIL() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("all stand on the first of 2 nodes"));
  }
}

TEST(PredictStudy, SaysWhereRanksStandThatDoNotFillTheirNodes) {
  Workspace workspace;
  const std::string two_nodes =
      "  gpus_per_node: 8\n  nodes: 2\n  inter: {kind: infiniband, rate: 200 Gb/s, nics: 1}\n";
  predict(
      {.scenario = workspace.scenario("a.yaml", "ranks_per_node: 2\n" + std::string(kUniform) + two_nodes)},
      workspace.invocation(), workspace.observer());
  EXPECT_THAT(workspace.notes(),
              testing::Contains(HasSubstr("4 ranks stand 2 on each of 2 nodes of 8 GPUs")));
}

TEST(PredictStudy, AnAlgorithmThatCannotBePredictedIsNotedOnce) {
  Workspace workspace;
  Machine machine;
  machine.gpus_per_node = 4;
  machine.intra =
      IntraLink{.kind = IntraKind::custom, .latency = Seconds{1e-5}, .bandwidth = BytesPerSecond{1e10}};
  std::vector<Point> points(2);
  for (Point& point : points) {
    point.key = {.algorithm = "native", .ranks = 4, .bytes = {1024}};
  }
  points.back().key.bytes = {4096};
  predict_points(points, machine, {.backend = Backend::mpi}, workspace.observer());
  EXPECT_FALSE(points.front().predicted);
  EXPECT_THAT(workspace.notes(), testing::ElementsAre(HasSubstr("No prediction of native")));
}

}  // namespace
}  // namespace ringside::study
