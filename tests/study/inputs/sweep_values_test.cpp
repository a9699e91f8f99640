#include "study/inputs/sweep_values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"

namespace ringside::study {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string refused(const std::string& text) {
  try {
    parse_sweep(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    return error.what();
  }
  return "accepted";
}

TEST(SweepValues, AStepIsAddedAndTheEndBelongsToTheRange) {
  EXPECT_THAT(parse_sweep("ranks=2:8:2").values, ElementsAre("2", "4", "6", "8"));
  EXPECT_THAT(parse_sweep("bandwidth=1GB/s:2GB/s:500MB/s").values,
              ElementsAre("1000000000 B/s", "1500000000 B/s", "2000000000 B/s"));
  EXPECT_THAT(parse_sweep("slowdown=1:1.3:0.1").values, ElementsAre("1", "1.1", "1.2", "1.3"));
}

TEST(SweepValues, OrItMultiplies) {
  EXPECT_THAT(parse_sweep("ranks=2:16:2x").values, ElementsAre("2", "4", "8", "16"));
  EXPECT_THAT(parse_sweep("ranks=2:15:2x").values, ElementsAre("2", "4", "8"));
}

TEST(SweepValues, AreSpacedEvenlyAlsoInTheLogarithm) {
  EXPECT_THAT(parse_sweep("x=1:100:log3").values, ElementsAre("1", "10", "100"));
  EXPECT_THAT(parse_sweep("x=1:10:lin4").values, ElementsAre("1", "4", "7", "10"));
  EXPECT_THAT(parse_sweep("x=4:10:log1").values, ElementsAre("4"));
  EXPECT_THAT(parse_sweep("bytes=1KB:10KB:log3").values, ElementsAre("1000 B", "3162 B", "10000 B"))
      << "a byte is not cut";
}

TEST(SweepValues, AListIsTakenAsItIs) {
  EXPECT_THAT(parse_sweep("kind=pcie,nvlink").values, ElementsAre("pcie", "nvlink"));
  EXPECT_THAT(refused("kind=pcie,,nvlink"), HasSubstr("a value of the list is empty"));
}

TEST(SweepValues, WhatLeadsNowhereIsRefused) {
  EXPECT_THAT(refused("ranks=2:8:1x"), HasSubstr("does not lead from 2 to 8"));
  EXPECT_THAT(refused("ranks=2:8:0"), HasSubstr("does not lead from 2 to 8"));
  EXPECT_THAT(refused("ranks=8:2:2x"), HasSubstr("FROM is larger than TO"));
  EXPECT_THAT(refused("bandwidth=1GB/s:2GB/s:1"), HasSubstr("another unit than the range"));
  EXPECT_THAT(refused("bandwidth=1GB/s:2GB:2x"), HasSubstr("different kinds of units"));
}

TEST(SweepKeys, MayLeaveOutTheirMap) {
  const std::vector<std::string> known = {"intra.bandwidth", "nodes"};
  const auto refusal = [&](const std::string& key) -> std::string {
    const std::vector<Sweep> sweeps = {{.key = key, .values = {"1"}}};
    try {
      require_known_keys(sweeps, known, "machine x");
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  for (const char* key : {"bandwidth", "intra.bandwidth", "nodes"}) {
    EXPECT_EQ(refusal(key), "accepted");
  }
  EXPECT_THAT(refusal("node"), HasSubstr("did you mean 'nodes'?"));
}

}  // namespace
}  // namespace ringside::study
