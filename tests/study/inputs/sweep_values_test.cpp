#include "study/inputs/sweep_values.hpp"

#include <string>
#include <utility>
#include <vector>

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

TEST(SweepValues, AreRefusedWithTheReasonAndTheForm) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"x", "a key and its values are separated by '='"},
      {"=1", "a key and its values are separated by '='"},
      {"x=", "a key and its values are separated by '='"},
      {"x=1:2", "a range has three parts"},
      {"x=1:2:3:4", "a range has three parts"},
      {"x=a:2:1", "'a' is neither a number nor a quantity with a unit"},
      {"x=1:2:lin0", "'lin0' must end in a number of values, 1 to 1000"},
      {"x=1:2:lin1001", "'lin1001' must end in a number of values, 1 to 1000"},
      {"x=1:2:log1.5", "'log1.5' must end in a number of values, 1 to 1000"},
      {"x=1:2:logx", "'logx' must end in a number of values, 1 to 1000"},
      {"x=0:2:log3", "a logarithmic range starts above zero"},
      {"x=0:8:2x", "the step '2x' does not lead from 0 to 8"},
      {"x=2:8:1x", "the step '1x' does not lead from 2 to 8"},
      {"x=2:8:ax", "the step 'ax' does not lead from 2 to 8"},
      {"x=1.5:8:0", "the step '0' does not lead from 1.5 to 8"},
      {"x=1ms:2ms:-1", "the step '-1' does not lead from 0.001 s to 0.002 s"},
      {"x=8:2:2x", "FROM is larger than TO"},
      {"x=1GB/s:2GB/s:1", "the step '1' has another unit than the range"},
      {"x=1GB/s:2GB:2x", "FROM and TO have different kinds of units"},
      {"x=1:1001:1", "more than 1000 values"},
      {"x=,b", "a value of the list is empty"}};
  for (const auto& [text, why] : cases) {
    EXPECT_EQ(refused(text), "sweep " + text + ": " + why +
                                 "; write KEY=FROM:TO:STEP, for example bandwidth=5GB/s:100GB/s:log10, "
                                 "ranks=2:64:2x, or KEY=A,B,C");
  }
}

TEST(SweepValues, ReachTheirEnds) {
  for (const char* step : {"1", "lin1000", "log1000"}) {
    const std::vector<std::string> values = parse_sweep(std::string("x=1:1000:") + step).values;
    ASSERT_EQ(values.size(), 1000U) << step;
    EXPECT_EQ(values.front(), "1");
    EXPECT_EQ(values.back(), "1000");
  }
  EXPECT_THAT(parse_sweep("x=0:1:lin3").values, ElementsAre("0", "0.5", "1"));
  EXPECT_THAT(parse_sweep("x=5:5:1").values, ElementsAre("5"));
  EXPECT_THAT(parse_sweep("x=0.5:2:2x").values, ElementsAre("0.5", "1", "2"));
  EXPECT_THAT(parse_sweep("x=1ms:2ms:500us").values, ElementsAre("0.001 s", "0.0015 s", "0.002 s"));
  EXPECT_THAT(parse_sweep("x=1KB:3KB:1KB").values, ElementsAre("1000 B", "2000 B", "3000 B"));
  EXPECT_TRUE(parse_sweep("x=1:2:1").range);
  EXPECT_FALSE(parse_sweep("x=1,2").range);
  EXPECT_EQ(parse_sweep("intra.bandwidth=1GB/s").key, "intra.bandwidth");
  EXPECT_EQ(origin_of({.key = "x", .values = {}}, "5 GB/s"), "sweep x=5 GB/s");
  EXPECT_EQ(readable("1500000000 B/s"), "1.5 GB/s");
  EXPECT_EQ(readable("4096 B"), "4 KiB");
  EXPECT_EQ(readable("0.001 s"), "1 ms");
}

TEST(SweepValues, AreCombinedTheLastFastestUpToAHundredThousand) {
  const auto sweep_of = [](const char* key, std::size_t count) {
    return Sweep{.key = key, .values = std::vector<std::string>(count, "1")};
  };
  EXPECT_THAT(combinations(
                  std::vector<Sweep>{{.key = "x", .values = {"1", "2"}}, {.key = "y", .values = {"a", "b"}}}),
              ElementsAre(ElementsAre("1", "a"), ElementsAre("1", "b"), ElementsAre("2", "a"),
                          ElementsAre("2", "b")));
  EXPECT_THAT(combinations({}), ElementsAre(testing::IsEmpty()));
  EXPECT_EQ(combinations(std::vector<Sweep>{sweep_of("x", 1000), sweep_of("y", 100)}).size(), 100'000U);
  EXPECT_THAT(
      [&] {
        combinations(std::vector<Sweep>{sweep_of("x", 1000), sweep_of("y", 101)});
      },
      testing::ThrowsMessage<Error>(
          "sweep y: these sweeps make more than 100000 combinations; fewer values show as much"));
}

TEST(SweepValues, ThatAreRanksOrSizesAreWhole) {
  EXPECT_EQ(whole_number("ranks", "1"), 1);
  EXPECT_EQ(whole_number("ranks", "16777216"), 16'777'216);
  for (const std::string text : {"0", "16777217", "1.5", "x", "-1"}) {
    EXPECT_THAT([&] { whole_number("ranks", text); },
                testing::ThrowsMessage<Error>("sweep ranks=" + text + ": '" + text +
                                              "' is not a whole number from 1 to 16777216"));
  }
  EXPECT_EQ(size_of_message("8 B", false, DataType::float32), Bytes{8});
  EXPECT_EQ(size_of_message("15 B", true, DataType::float64), Bytes{8});
  EXPECT_EQ(size_of_message("10 B", false, DataType::float16), Bytes{10});
  EXPECT_EQ(size_of_message("0 B", false, DataType::float16), Bytes{0});
  for (const auto& [text, step] : {std::pair("10 B", false), {"3 B", true}}) {
    const std::string refused_text = text;
    const bool step_of_range = step;
    EXPECT_THAT([&] { size_of_message(refused_text, step_of_range, DataType::float32); },
                testing::ThrowsMessage<Error>("sweep bytes=" + refused_text +
                                              ": is no whole number of float32 (4 bytes each)"));
  }
  EXPECT_THAT([] { size_of_message("x", true, DataType::float32); },
              testing::ThrowsMessage<Error>(
                  "sweep bytes=x: 'x' is not a size; write a number and a unit, such as 4 KiB"));
}

TEST(SweepKeys, OfTwoThatMayBeTheSameNoneIsTaken) {
  const std::vector<std::string> known = {"intra.bandwidth", "inter.bandwidth", "nodes"};
  const auto refusal = [&](const std::vector<std::string>& keys) -> std::string {
    std::vector<Sweep> sweeps;
    for (const std::string& key : keys) {
      sweeps.push_back({.key = key, .values = {"1"}});
    }
    try {
      require_known_keys(sweeps, known, "machine x");
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refusal({"inter.bandwidth", "intra.bandwidth", "nodes"}), "accepted");
  EXPECT_EQ(refusal({"nodes", "bandwidth", "nodes"}),
            "sweep nodes: is swept twice; write its values into one list");
  EXPECT_EQ(refusal({"bandwidth", "intra.bandwidth"}),
            "sweep intra.bandwidth: may be the same key as bandwidth; write both in full");
  EXPECT_EQ(refusal({"nodes", "intra.bandwidth", "bandwidth"}),
            "sweep bandwidth: may be the same key as intra.bandwidth; write both in full");
  EXPECT_EQ(refusal({"nodes", "node"}), "sweep node: is no key of machine x; did you mean 'nodes'?");
  EXPECT_EQ(refusal({"something"}), "sweep something: is no key of machine x");
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
