#include "lab/evaluation/impossible_times.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/scenario.hpp"
#include "schedule/registry.hpp"

namespace ringside {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kGigabyte = 1'000'000'000;

Point measured(Collective collective, int ranks, double seconds) {
  return {.key = {.collective = collective,
                  .algorithm = std::string(kNative),
                  .ranks = ranks,
                  .bytes = {kGigabyte}},
          .predicted = {},
          .measured = Measurement{.outcome = Outcome::ok, .seconds = {seconds}}};
}

EvaluationSystem one_row(const std::string& machine, const Point& point) {
  return {.name = "a", .machine = parse_machine(machine, "machine.yaml"), .points = {point}};
}

// 6 links of 25 GB/s: a gather of 1 GB onto 12 GPUs brings each 11/12 GB, 6.1 ms at the least.
constexpr const char* kDgx2 =
    "{gpus_per_node: 12, gpu: {model: V100-SXM2-32GB}, intra: {kind: nvlink, generation: 2, links_per_gpu: "
    "6, "
    "switch: true}}";

TEST(ImpossibleTimes, ARowFasterThanTheLinksIsNamedWithWhatTheyNeed) {
  EXPECT_THAT(impossible_times(one_row(kDgx2, measured(Collective::all_gather, 12, 71.61e-6))),
              ElementsAre(AllOf(HasSubstr("row of 1000000000 bytes says 71.61 us"),
                                HasSubstr("150 GB/s need 6111 us"))));
}

TEST(ImpossibleTimes, WhatADescriptionMayBeWrongByIsLetPass) {
  EXPECT_THAT(impossible_times(one_row(kDgx2, measured(Collective::all_gather, 12, 6.1e-3 / 2.9))),
              IsEmpty());
  EXPECT_THAT(impossible_times(one_row(kDgx2, measured(Collective::all_gather, 12, 1))), IsEmpty());
}

TEST(ImpossibleTimes, BetweenNodesTheNicsCount) {
  // 25 GB/s of a node: every node has to receive the whole sum, 40 ms, however fast its GPUs are.
  const char* machine =
      "{nodes: 2, gpus_per_node: 8, gpu: {model: A100-SXM4-80GB}, intra: {kind: nvlink, generation: 3, "
      "links_per_gpu: 12, switch: true}, inter: {kind: infiniband, rate: 200 Gb/s, nics: 1}}";
  EXPECT_THAT(impossible_times(one_row(machine, measured(Collective::all_reduce, 16, 10e-3))),
              ElementsAre(HasSubstr("NICs of a node of 25 GB/s need 40000 us")));
  EXPECT_THAT(impossible_times(one_row(machine, measured(Collective::all_reduce, 16, 40e-3))), IsEmpty());
}

}  // namespace
}  // namespace ringside
