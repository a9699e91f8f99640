#include "study/tune.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"

namespace ringside::study {
namespace {

using ::testing::HasSubstr;

Scenario scenario() {
  Scenario scenario;
  scenario.name = "tuned";
  scenario.algorithms = {"ring"};
  scenario.ranks = {2, 4};
  scenario.message_sizes = {{4096}, {65536}, {4 << 20}};
  scenario.backend = Backend::mpi;
  scenario.machine = parse_machine("intra: {kind: custom, latency: 10 us, bandwidth: 10 GB/s}\n", "here");
  return scenario;
}

TunedSize size(int ranks, std::int64_t bytes, int number) {
  return {.key = {.algorithm = "native", .ranks = ranks, .bytes = {bytes}},
          .own = "ring",
          .own_time = {.seconds = {2}, .low = Seconds{1.5}, .high = Seconds{3}},
          .fastest = "halving_doubling",
          .fastest_time = {.seconds = {1}, .low = Seconds{0.75}, .high = Seconds{1.2}},
          .number = number};
}

TEST(Tune, TheTextSwitchesAtTheSizesAndGivesTheRestBack) {
  const std::vector<TunedSize> sizes = {size(2, 4096, 0), size(2, 65536, 6), size(2, 131072, 6),
                                        size(4, 4096, 3), size(4, 65536, 0)};
  const std::string sizes_line = " # sizes: from so many bytes, algorithm, fan-out, segment\n";
  EXPECT_EQ(dynamic_rules(sizes),
            "1 # collectives\n2 # all_reduce\n4 # numbers of ranks\n"
            "2 # ranks\n3" +
                sizes_line +
                "0 0 0 0\n65536 6 0 0\n131073 0 0 0\n"
                "3 # ranks\n1" +
                sizes_line +
                "0 0 0 0\n"
                "4 # ranks\n3" +
                sizes_line +
                "0 0 0 0\n4096 3 0 0\n65536 0 0 0\n"
                "5 # ranks\n1" +
                sizes_line + "0 0 0 0\n");
}

TEST(Tune, TheGainGoesFromTheWorstToTheBestOfBothPredictions) {
  EXPECT_EQ(size(2, 8, 6).gain(), (Interval<double>{.low = 1.25, .typical = 2, .high = 4}));
  EXPECT_EQ(size(2, 8, 0).gain(), Interval<double>::exactly(1)) << "the library's own choice stays";
}

TEST(Tune, OnlyOpenMpisAllReduceOnADescribedMachine) {
  const auto refusal = [](Scenario asked, const std::string& library) -> std::string {
    try {
      Invocation invocation;
      invocation.output = "/nowhere/at/all";
      tune({.scenario = std::move(asked)}, library, invocation, {});
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  Scenario other = scenario();
  other.backend = Backend::gloo;
  EXPECT_THAT(refusal(other, "Open MPI v4.1.4"), HasSubstr("mpi alone reads a file of rules, not gloo"));
  other = scenario();
  other.collective = Collective::broadcast;
  EXPECT_THAT(refusal(other, "Open MPI v4.1.4"), HasSubstr("not for broadcast"));
  other = scenario();
  other.machine.reset();
  EXPECT_THAT(refusal(other, "Open MPI v4.1.4"), HasSubstr("machine: rules follow from a machine file"));
  EXPECT_THAT(refusal(scenario(), "MPICH 4.0.2"), HasSubstr("known is Open MPI's for all_reduce"));
  EXPECT_THAT(refusal(scenario(), "Open MPI v3.1.0"), HasSubstr("are not known"));
}

}  // namespace
}  // namespace ringside::study
