#include "sim/engine/mpi_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedule/registry.hpp"
#include "sim/engine/simulate.hpp"

namespace ringside {
namespace {

using ::testing::HasSubstr;

constexpr const char* kOpenMpi = "Open MPI v4.1.4";
constexpr const char* kMpich = "MPICH 4.0.2";

std::string chosen(const std::string& library, const MpiCall& call) {
  const auto outcome = mpi_choice(library, call);
  const auto* choice = std::get_if<MpiChoice>(&outcome);
  return choice == nullptr ? "unknown: " + std::get<std::string>(outcome) : choice->name;
}

/// For float32 on one node.
std::string open_mpi(Collective collective, int ranks, std::int64_t bytes) {
  return chosen(kOpenMpi,
                {.collective = collective, .ranks = ranks, .ranks_per_node = ranks, .bytes = {bytes}});
}

TEST(MpiRules, OpenMpiChoosesAsItsFixedDecisionDoes) {
  struct Case {
    int ranks;
    std::int64_t bytes;
    const char* algorithm;
  };
  // On either side of limits of coll_tuned_decision_fixed.c.
  for (const Case& one : {Case{2, 8, "recursive doubling"},
                          Case{3, 4095, "recursive doubling"},
                          Case{2, 4096, "ring"},
                          Case{2, 8192, "recursive doubling"},
                          Case{2, 16384, "ring"},
                          Case{3, 262143, "ring"},
                          Case{2, 262144, "Rabenseifner"},
                          Case{4, 12, "recursive doubling"},
                          Case{4, 8188, "recursive doubling"},
                          Case{7, 8192, "Rabenseifner"},
                          Case{15, 8188, "recursive doubling"},
                          Case{16, 4096, "Rabenseifner"},
                          Case{32, 124, "recursive doubling"},
                          Case{32, 128, "Rabenseifner"},
                          Case{64, 262140, "recursive doubling"},
                          Case{127, 262144, "Rabenseifner"},
                          Case{128, 131068, "reduce then broadcast"},
                          Case{255, 131072, "recursive doubling"},
                          Case{256, 4096, "Rabenseifner"},
                          Case{1024, 16380, "recursive doubling"},
                          Case{2048, 4092, "recursive doubling"},
                          Case{2048, 2048 * 4, "recursive doubling"},
                          Case{4096, 16380, "recursive doubling"},
                          Case{100'000, 32768, "linear"}}) {
    EXPECT_EQ(open_mpi(Collective::all_reduce, one.ranks, one.bytes), one.algorithm)
        << one.ranks << " ranks, " << one.bytes << " bytes";
  }
}

TEST(MpiRules, ShortVectorsFallBackAsInTheLibrary) {
  EXPECT_EQ(open_mpi(Collective::all_reduce, 4, 8), "recursive doubling")
      << "the ring needs an element for each rank";
  EXPECT_EQ(open_mpi(Collective::all_reduce, 32, 15 * 4), "recursive doubling");
  EXPECT_EQ(open_mpi(Collective::all_reduce, 40, 31 * 4), "recursive doubling");
  EXPECT_EQ(open_mpi(Collective::all_reduce, 40, 128), "Rabenseifner") << "32 elements for 32 ranks";
  EXPECT_EQ(open_mpi(Collective::all_reduce, 64 * 4, 4096), "Rabenseifner");
  EXPECT_EQ(chosen(kOpenMpi, {.ranks = 40, .ranks_per_node = 40, .bytes = {128}, .dtype = DataType::float64}),
            "linear");
}

TEST(MpiRules, AllGatherCountsTheBytesOfOneRank) {
  EXPECT_EQ(open_mpi(Collective::all_gather, 2, 1 << 20), "two processes");
  EXPECT_EQ(open_mpi(Collective::all_gather, 8, 1 << 20), "recursive doubling");
  EXPECT_EQ(open_mpi(Collective::all_gather, 6, 1 << 20), "Bruck");
  EXPECT_EQ(open_mpi(Collective::all_gather, 32, 32 * 1024 - 32), "recursive doubling");
  EXPECT_EQ(open_mpi(Collective::all_gather, 32, 32 * 1024), "neighbour exchange");
  EXPECT_EQ(open_mpi(Collective::all_gather, 33, 33 * 1024), "ring")
      << "an odd number has no neighbours to pair";
  EXPECT_EQ(open_mpi(Collective::all_gather, 32, 32 * 65536), "ring");
}

TEST(MpiRules, HanAnswersOnSeveralNodesFromVersion5On) {
  const MpiCall two_nodes = {.ranks = 16, .ranks_per_node = 8, .bytes = {1 << 20}};
  EXPECT_EQ(chosen("Open MPI 4.1.6", two_nodes), "Rabenseifner");
  EXPECT_THAT(chosen("Open MPI v5.0.7", two_nodes), HasSubstr("HAN"));
  EXPECT_EQ(chosen("Open MPI 5.0.10", {.ranks = 16, .ranks_per_node = 16, .bytes = {1 << 20}}),
            "Rabenseifner");
}

TEST(MpiRules, MpichAsksFirstWhereTheRanksAre) {
  MpiCall call = {.ranks = 6, .ranks_per_node = 6, .bytes = {4096}};
  EXPECT_THAT(chosen(kMpich, call), HasSubstr("release_gather"));
  call.ranks_per_node = 2;
  EXPECT_THAT(chosen(kMpich, call), HasSubstr("inside the nodes"));
  call.ranks_per_node = 1;
  EXPECT_EQ(chosen(kMpich, call), "Rabenseifner");
  call.bytes = {8};
  EXPECT_EQ(chosen(kMpich, call), "recursive doubling");
  call.bytes = {12};
  EXPECT_EQ(chosen(kMpich, call), "recursive doubling") << "3 elements, 4 ranks that halve";
  call = {.collective = Collective::all_gather, .ranks = 6, .ranks_per_node = 6, .bytes = {80 * 1024 - 4}};
  EXPECT_EQ(chosen(kMpich, call), "Bruck");
  call.bytes = {80 * 1024};
  EXPECT_EQ(chosen(kMpich, call), "ring");
}

TEST(MpiRules, OfOtherLibrariesAndCollectivesNothingIsGuessed) {
  for (const char* library :
       {"Open MPI 3.1.6", "Open MPI 6.0.0", "Open MPI", "MPICH 3.4", "Intel MPI 2021.11", ""}) {
    EXPECT_THAT(chosen(library, {}), HasSubstr("known are Open MPI 4.1 to 5.0 and MPICH 4.0 to 5.0"))
        << library;
  }
  EXPECT_THAT(open_mpi(Collective::reduce, 4, 4096), HasSubstr("rules for reduce are not modelled"));
}

TEST(MpiRules, SwitchesAreWhereTheChoiceChanges) {
  const auto outcome = mpi_switches(kOpenMpi, {.ranks = 8, .ranks_per_node = 8});
  const auto& switches = std::get<std::vector<MpiSwitch>>(outcome);
  ASSERT_EQ(switches.size(), 2U);
  EXPECT_EQ(switches[0].choice.ours, "recursive_doubling");
  EXPECT_EQ(switches[1].from, Bytes{8192});
  EXPECT_EQ(switches[1].choice.ours, "halving_doubling");
}

TEST(MpiRules, EveryAlgorithmOfOursIsOneThatThereIs) {
  for (const Collective collective :
       {Collective::all_reduce, Collective::all_gather, Collective::broadcast}) {
    for (const char* library : {kOpenMpi, kMpich}) {
      for (const int ranks : {2, 3, 5, 8, 16, 33, 64, 128, 300, 512, 1024, 2048, 4096}) {
        const auto outcome =
            mpi_switches(library, {.collective = collective, .ranks = ranks, .ranks_per_node = 1});
        for (const MpiSwitch& one : std::get<std::vector<MpiSwitch>>(outcome)) {
          EXPECT_TRUE(one.choice.ours.empty() || find_algorithm(collective, one.choice.ours) != nullptr)
              << one.choice.ours << " " << name(collective);
        }
      }
    }
  }
}

Machine machine_with(const char* library) {
  Machine machine;
  machine.intra =
      IntraLink{.kind = IntraKind::custom, .latency = Seconds{1e-6}, .bandwidth = BytesPerSecond{1e9}};
  if (library != nullptr) {
    machine.software.mpi = library;
  }
  return machine;
}

std::variant<Prediction, Unpredicted> predicted(const Machine& machine, const char* algorithm,
                                                std::int64_t bytes) {
  return simulate(machine, {.algorithm = algorithm, .ranks = 8, .bytes = {bytes}}, {.backend = Backend::mpi});
}

TEST(MpiRules, NativeIsPredictedAsTheAlgorithmThatRuns) {
  const Machine machine = machine_with(kOpenMpi);
  for (const auto& [bytes, ours] :
       {std::pair{4096, "recursive_doubling"}, std::pair{8192, "halving_doubling"}}) {
    EXPECT_EQ(std::get<Prediction>(predicted(machine, "native", bytes)).seconds,
              std::get<Prediction>(predicted(machine, ours, bytes)).seconds);
  }
  EXPECT_THAT(std::get<Unpredicted>(predicted(machine_with(nullptr), "native", 4096)).reason,
              HasSubstr("software: {mpi: …}"));
  EXPECT_THAT(
      std::get<Unpredicted>(predicted(machine_with(kMpich), "native", 4096)).reason,
      HasSubstr("MPICH 4.0.2 chooses release_gather in shared memory, which is none of our algorithms"));
}

}  // namespace
}  // namespace ringside
