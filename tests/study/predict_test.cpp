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

/// A scenario of these ranks on so many nodes of eight GPUs.
std::string on_nodes(const std::string& ranks, int nodes, const std::string& more = "") {
  return more + "name: placed\nalgorithms: [ring]\nranks: [" + ranks +
         "]\nmessage_sizes: [1 KiB]\nmachine:\n  intra: {kind: custom, latency: 10 us, bandwidth: 10 GB/s}\n"
         "  gpus_per_node: 8\n  nodes: " +
         std::to_string(nodes) + "\n  inter: {kind: infiniband, rate: 200 Gb/s, nics: 1}\n";
}

TEST(PredictStudy, SaysOfEachNumberOfRanksWhereItStands) {
  const auto said = [](const std::string& text) {
    Workspace workspace;
    predict({.scenario = workspace.scenario("a.yaml", text)}, workspace.invocation(), workspace.observer());
    std::vector<std::string> notes;
    for (const std::string& note : workspace.notes()) {
      if (note.find("ranks stand") != std::string::npos) {
        notes.push_back(note);
      }
    }
    return notes;
  };
  EXPECT_THAT(said(on_nodes("1, 2, 7, 8, 12, 16", 2)),
              testing::ElementsAre("2 ranks stand on the first 2 of one node's 8 GPUs.",
                                   "7 ranks stand on the first 7 of one node's 8 GPUs.",
                                   "8 ranks stand on the first of the 2 nodes of 8 GPUs.",
                                   "12 ranks stand 8 on each of 1 nodes of 8 GPUs, and 4 on one more."));
  EXPECT_THAT(said(on_nodes("16, 32", 4)),
              testing::ElementsAre("16 ranks stand on 2 of the 4 nodes of 8 GPUs."));
  EXPECT_THAT(said(on_nodes("2, 4, 5", 4, "ranks_per_node: 2\n")),
              testing::ElementsAre("2 ranks stand on the first 2 of one node's 8 GPUs.",
                                   "4 ranks stand 2 on each of 2 nodes of 8 GPUs.",
                                   "5 ranks stand 2 on each of 2 nodes of 8 GPUs, and 1 on one more."));
}

TEST(PredictStudy, SomeRanksMustStandBeyondTheFirstNode) {
  Workspace workspace;
  const auto refusal = [&](const std::string& text) -> std::string {
    try {
      predict({.scenario = workspace.scenario("a.yaml", text)}, workspace.invocation(), workspace.observer());
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const std::string file = workspace.write("a.yaml", "").string();
  EXPECT_EQ(refusal(on_nodes("1, 9", 2)), "");
  EXPECT_EQ(refusal(on_nodes("1", 2)), "");
  EXPECT_EQ(refusal(on_nodes("2", 2, "ranks_per_node: 1\n")), "");
  EXPECT_EQ(refusal(on_nodes("2, 8", 2)),
            file +
                ": ranks: 8 of them all stand on the first of 2 nodes of 8 GPUs; ask for up "
                "to 16, place fewer on each node (`ranks_per_node`), or write `nodes: 1`");
}

TEST(PredictStudy, AFileOfResultsIsTold) {
  Workspace workspace;
  EXPECT_TRUE(holds_results(workspace.write("a", "{\"record\":\"run\"")));
  EXPECT_TRUE(holds_results(workspace.write("b", "<!DOCTYPE html>\n<html>")));
  EXPECT_FALSE(holds_results(workspace.write("c", "name: a\n")));
  EXPECT_FALSE(holds_results(workspace.write("d", "<!DOCTYPE htm\n")));
  EXPECT_FALSE(holds_results(workspace.output() / "none"));
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
