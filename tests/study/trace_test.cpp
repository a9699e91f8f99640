#include "study/trace.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "common/error.hpp"
#include "common/text.hpp"
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

TEST(TraceStudy, WhatCannotBePredictedIsSaidToBeSo) {
  Workspace workspace;
  const std::string text =
      "name: odd\ncollective: all_gather\nalgorithms: [ring, neighbour_exchange]\nranks: 3\n"
      "message_sizes: [1 KiB]\nmachine:\n  intra: {kind: custom, latency: 10 us, bandwidth: 10 GB/s}\n";
  const auto study =
      trace({.scenario = workspace.scenario("a.yaml", text)}, workspace.invocation(), workspace.observer());
  ASSERT_TRUE(study);
  EXPECT_THAT(workspace.notes(),
              testing::Contains(testing::HasSubstr("No prediction of neighbour_exchange: ")));
}

/// All that a viewer shows of an event in process `process`.
std::string shown_event(int process, const TraceEvent& event) {
  const std::string chunks =
      consecutive("chunk", event.first_chunk, event.first_chunk + event.num_chunks - 1);
  const std::string kind(timeline_name(event.kind));
  return fmt::format("{} {} {}, {}: {:.9g} {:.9g}, round {}, {} to {}, {} B", process, kind, chunks, kind,
                     event.start.value * 1e6, (event.end - event.start).value * 1e6, event.round,
                     event.source, event.target, event.bytes.value);
}

TEST(TraceStudy, AFileShowsEveryEventOnItsRankAndItsLink) {
  Workspace workspace;
  const auto study = trace({.scenario = workspace.scenario("a.yaml", kUniform), .algorithms = {"ring"}},
                           workspace.invocation(), workspace.observer());
  ASSERT_TRUE(study);
  ASSERT_EQ(study->timelines.size(), 1U);
  const Timeline& timeline = study->timelines.front();
  EXPECT_EQ(timeline.key, (PointKey{.algorithm = "ring", .ranks = 4, .bytes = {8'000'000}})) << "the largest";
  EXPECT_EQ(timeline.file, workspace.output() / "trace_ring.json");
  std::vector<std::string> expected;
  for (const TraceEvent& event : timeline.simulated->events) {
    expected.push_back(shown_event(0, event));
    if (event.kind == TraceKind::transfer) {
      expected.push_back(shown_event(1, event));
    }
  }
  std::vector<std::string> found;
  std::vector<std::string> processes;
  std::vector<std::string> threads;
  const auto json = nlohmann::json::parse(read_text(timeline.file));
  EXPECT_EQ(json.at("displayTimeUnit"), "ms");
  for (const auto& event : json.at("traceEvents")) {
    const int process = event.at("pid").get<int>();
    const auto& more = event.at("args");
    const std::string name = event.at("name").get<std::string>();
    if (name == "process_name") {
      processes.push_back(more.at("name").get<std::string>());
    } else if (name == "thread_name") {
      threads.push_back(
          fmt::format("{} {} {}", process, event.at("tid").get<int>(), more.at("name").get<std::string>()));
    } else if (name == "process_sort_index") {
      EXPECT_EQ(more.at("sort_index"), event.at("pid"));
    } else if (name == "thread_sort_index") {
      EXPECT_EQ(more.at("sort_index"), event.at("tid"));
    } else {
      EXPECT_EQ(event.at("ph"), "X");
      found.push_back(fmt::format("{} {}, {}: {:.9g} {:.9g}, round {}, {} to {}, {} B", process, name,
                                  event.at("cat").get<std::string>(), event.at("ts").get<double>(),
                                  event.at("dur").get<double>(), more.at("round").get<int>(),
                                  more.at("source").get<int>(), more.at("target").get<int>(),
                                  more.at("bytes").get<std::int64_t>()));
    }
  }
  std::sort(expected.begin(), expected.end());
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, expected);
  EXPECT_THAT(processes, testing::ElementsAre("predicted ranks: ring all_reduce of 8 MB on 4 ranks",
                                              "predicted links: ring all_reduce of 8 MB on 4 ranks"));
  EXPECT_THAT(threads,
              testing::IsSupersetOf({"0 0 rank 0", "1 0 0 → 1", "1 1 1 → 2", "1 2 2 → 3", "1 3 3 → 0"}));
}

TEST(TraceStudy, OnlySchedulesOfOursAreTraced) {
  Workspace workspace;
  const auto refusal = [&](TraceRequest request) -> std::string {
    request.scenario = workspace.scenario("a.yaml", kUniform);
    try {
      trace(request, workspace.invocation(), workspace.observer());
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal({.scenario = {}, .algorithms = {"native"}}),
            "native has no schedule to be seen from outside: it is the backend's own; trace one of ours, "
            "such as ring");
  EXPECT_THAT(refusal({.scenario = {}, .algorithms = {"rng"}}),
              testing::StartsWith("unknown algorithm 'rng'; did you mean 'ring'? Known: naive"));
  EXPECT_EQ(refusal({.scenario = {}, .ranks = 257}),
            "ranks: a timeline of 257 ranks is too long; choose at most 256");
}

TEST(TraceStudy, TooManyRanksAreRefused) {
  Workspace workspace;
  EXPECT_THROW(trace({.scenario = workspace.scenario("a.yaml", kUniform), .ranks = 257},
                     workspace.invocation(), workspace.observer()),
               Error);
}

}  // namespace
}  // namespace ringside::study
