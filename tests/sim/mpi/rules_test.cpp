#include "sim/mpi/rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "schedule/registry.hpp"
#include "sim/engine/simulate.hpp"

namespace ringside {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kOpenMpi = "Open MPI v4.1.4";
constexpr const char* kMpich = "MPICH 4.0.2";

std::string chosen(const std::string& library, const MpiCall& call) {
  try {
    return mpi_choice(library, call);
  } catch (const Error& error) {
    return error.what();
  }
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
  for (const Case& one : {Case{2, 8, "recursive_doubling"},
                          Case{3, 4095, "recursive_doubling"},
                          Case{2, 4096, "ring"},
                          Case{2, 8192, "recursive_doubling"},
                          Case{2, 16384, "ring"},
                          Case{3, 262143, "ring"},
                          Case{2, 262144, "halving_doubling"},
                          Case{4, 12, "recursive_doubling"},
                          Case{4, 8188, "recursive_doubling"},
                          Case{7, 8192, "halving_doubling"},
                          Case{15, 8188, "recursive_doubling"},
                          Case{16, 4096, "halving_doubling"},
                          Case{32, 124, "recursive_doubling"},
                          Case{32, 128, "halving_doubling"},
                          Case{64, 262140, "recursive_doubling"},
                          Case{127, 262144, "halving_doubling"},
                          Case{128, 131068, "reduce_then_broadcast"},
                          Case{255, 131072, "recursive_doubling"},
                          Case{256, 4096, "halving_doubling"},
                          Case{1024, 16380, "recursive_doubling"},
                          Case{2048, 4092, "recursive_doubling"},
                          Case{2048, 2048 * 4, "recursive_doubling"},
                          Case{4096, 16380, "recursive_doubling"},
                          Case{100'000, 32768, "naive"}}) {
    EXPECT_EQ(open_mpi(Collective::all_reduce, one.ranks, one.bytes), one.algorithm)
        << one.ranks << " ranks, " << one.bytes << " bytes";
  }
}

TEST(MpiRules, ShortVectorsFallBackAsInTheLibrary) {
  EXPECT_EQ(open_mpi(Collective::all_reduce, 4, 8), "recursive_doubling")
      << "the ring needs an element for each rank";
  EXPECT_EQ(open_mpi(Collective::all_reduce, 32, 15 * 4), "recursive_doubling");
  EXPECT_EQ(open_mpi(Collective::all_reduce, 40, 31 * 4), "recursive_doubling");
  EXPECT_EQ(open_mpi(Collective::all_reduce, 40, 128), "halving_doubling") << "32 elements for 32 ranks";
  EXPECT_EQ(open_mpi(Collective::all_reduce, 64 * 4, 4096), "halving_doubling");
  EXPECT_EQ(chosen(kOpenMpi, {.ranks = 40, .ranks_per_node = 40, .bytes = {128}, .dtype = DataType::float64}),
            "naive");
}

TEST(MpiRules, AllGatherCountsTheBytesOfOneRank) {
  EXPECT_EQ(open_mpi(Collective::all_gather, 2, 1 << 20), "recursive_doubling");
  EXPECT_EQ(open_mpi(Collective::all_gather, 8, 1 << 20), "recursive_doubling");
  EXPECT_EQ(open_mpi(Collective::all_gather, 6, 1 << 20), "bruck");
  EXPECT_EQ(open_mpi(Collective::all_gather, 32, 32 * 1024 - 32), "recursive_doubling");
  EXPECT_EQ(open_mpi(Collective::all_gather, 32, 32 * 1024), "neighbour_exchange");
  EXPECT_EQ(open_mpi(Collective::all_gather, 33, 33 * 1024), "ring")
      << "an odd number has no neighbours to pair";
  EXPECT_EQ(open_mpi(Collective::all_gather, 32, 32 * 65536), "ring");
}

TEST(MpiRules, HanAnswersOnSeveralNodesFromVersion5On) {
  const MpiCall two_nodes = {.ranks = 16, .ranks_per_node = 8, .bytes = {1 << 20}};
  EXPECT_EQ(chosen("Open MPI 4.1.6", two_nodes), "halving_doubling");
  EXPECT_THAT(chosen("Open MPI v5.0.7", two_nodes), HasSubstr("han"));
  EXPECT_EQ(chosen("Open MPI 5.0.10", {.ranks = 16, .ranks_per_node = 16, .bytes = {1 << 20}}),
            "halving_doubling");
  EXPECT_EQ(chosen("Open MPI 5.0.7", {.ranks = 16, .ranks_per_node = 1, .bytes = {1 << 20}}),
            "halving_doubling")
      << "one rank on each node: nothing to do inside";
  EXPECT_EQ(chosen("Open MPI 5.0.7",
                   {.collective = Collective::all_to_all, .ranks = 16, .ranks_per_node = 8, .bytes = {64}}),
            "bruck")
      << "HAN has none";
  for (const Collective collective : {Collective::broadcast, Collective::reduce, Collective::all_gather}) {
    MpiCall uneven = {.collective = collective, .ranks = 11, .ranks_per_node = 4, .bytes = {4096}};
    EXPECT_EQ(chosen("Open MPI 5.0.7", uneven), chosen("Open MPI 4.1.6", uneven)) << name(collective);
    uneven.ranks = 12;
    EXPECT_EQ(chosen("Open MPI 5.0.7", uneven), "han") << name(collective);
  }
  EXPECT_EQ(chosen("Open MPI 5.0.7", {.ranks = 11, .ranks_per_node = 4, .bytes = {4096}}), "han");
}

TEST(MpiRules, MpichAsksFirstWhereTheRanksAre) {
  MpiCall call = {.ranks = 6, .ranks_per_node = 6, .bytes = {4096}};
  EXPECT_EQ(chosen(kMpich, call), "halving_doubling") << "a build for UCX";
  EXPECT_EQ(chosen("MPICH 4.3.1 ch4:ofi", call), "release_gather");
  call.ranks_per_node = 2;
  EXPECT_THAT(chosen(kMpich, call), HasSubstr("by_node"));
  call.ranks_per_node = 1;
  EXPECT_EQ(chosen(kMpich, call), "halving_doubling");
  call.bytes = {8};
  EXPECT_EQ(chosen(kMpich, call), "recursive_doubling");
  call.bytes = {12};
  EXPECT_EQ(chosen(kMpich, call), "recursive_doubling") << "3 elements, 4 ranks that halve";
  call = {.collective = Collective::all_gather, .ranks = 6, .ranks_per_node = 6, .bytes = {80 * 1024 - 4}};
  EXPECT_EQ(chosen(kMpich, call), "bruck");
  call.bytes = {80 * 1024};
  EXPECT_EQ(chosen(kMpich, call), "ring");
}

TEST(MpiRules, OfOtherLibrariesAndCollectivesNothingIsGuessed) {
  for (const char* library :
       {"Open MPI 3.1.6", "Open MPI 6.0.0", "Open MPI", "MPICH 3.4", "Intel MPI 2021.11", ""}) {
    EXPECT_THAT(chosen(library, {}), HasSubstr("known are Open MPI 4.1 to 5.0 and MPICH 4.0 to 5.0"))
        << library;
  }
  EXPECT_THAT(chosen("Open MPI 4.1.4 with OMPI_MCA_coll_tuned_allreduce_algorithm=4", {}),
              StartsWith("OMPI_MCA_coll_tuned_allreduce_algorithm=4 decides which algorithm runs"));
}

TEST(MpiRules, SwitchesAreWhereTheChoiceChanges) {
  const std::vector<MpiSwitch> switches = mpi_switches(kOpenMpi, {.ranks = 8, .ranks_per_node = 8});
  ASSERT_EQ(switches.size(), 2U);
  EXPECT_EQ(switches[0].algorithm, "recursive_doubling");
  EXPECT_EQ(switches[1].from, Bytes{8192});
  EXPECT_EQ(switches[1].algorithm, "halving_doubling");
}

TEST(MpiRules, SwitchesAreExact) {
  const std::vector<MpiSwitch> switches =
      mpi_switches(kMpich, {.collective = Collective::all_to_all, .ranks = 9, .ranks_per_node = 9});
  ASSERT_EQ(switches.size(), 3U);
  EXPECT_EQ(switches[1].from, Bytes{9 * 257 + 3}) << "elements are whole";
  EXPECT_EQ(switches[1].predicted_as, "all_to_all direct");
  EXPECT_EQ(switches[2].from, Bytes{9 * 32769 + 3});
}

TEST(MpiRules, SwitchesNextToOneAnotherAreSeen) {
  std::vector<std::string> names;
  for (const MpiSwitch& one :
       mpi_switches(kOpenMpi, {.collective = Collective::reduce, .ranks = 2, .ranks_per_node = 2})) {
    names.push_back(one.algorithm);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"naive", "binary_tree", "chain", "naive", "chain"}));
}

TEST(MpiRules, EveryChoiceHasSchedulesOfOurs) {
  for (const CollectiveRow& row : kCollectives) {
    for (const char* library : {kOpenMpi, "Open MPI 5.0.7", kMpich, "MPICH 5.0.1 ch4:ofi"}) {
      for (const int ranks : {2, 3, 5, 8, 16, 33, 64, 128, 300, 512, 1024, 2048, 4096, 131'072}) {
        for (const int per_node : {1, 2, 5, 64, 131'072}) {
          for (const auto& [from, algorithm, as] : mpi_switches(
                   library, {.collective = row.collective, .ranks = ranks, .ranks_per_node = per_node})) {
            const bool ours = find_algorithm(row.collective, algorithm) != nullptr;
            EXPECT_TRUE(ours || !as.empty()) << algorithm << " " << name(row.collective);
          }
        }
      }
    }
  }
}

TEST(MpiRules, PartsAreThoseOfTheirRanks) {
  const MpiPlan han = mpi_plan("Open MPI v5.0.7", {.ranks = 32, .ranks_per_node = 4, .bytes = {1 << 20}});
  EXPECT_EQ(han.segment, Bytes{64 << 10});
  EXPECT_EQ(
      predicted_as(han),
      "reduce binomial_tree in nodes, all_reduce halving_doubling between nodes, broadcast binomial_tree "
      "between nodes, broadcast naive in nodes");
  EXPECT_EQ(han.parts[1].ranks, 8);
  const MpiPlan alpha = mpi_plan("MPICH 4.0.2", {.ranks = 10, .ranks_per_node = 4, .bytes = {4096}});
  EXPECT_EQ(alpha.parts[1].ranks, 3) << "the last node has two ranks";
  EXPECT_EQ(predicted_as(alpha),
            "all_reduce halving_doubling in nodes, all_reduce halving_doubling between nodes, broadcast "
            "binomial_tree in nodes");
  const MpiPlan gathered =
      mpi_plan("Open MPI 5.0.7",
               {.collective = Collective::all_gather, .ranks = 16, .ranks_per_node = 4, .bytes = {16 << 10}});
  EXPECT_EQ(gathered.parts[0].bytes, Bytes{4 << 10});
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
                                                std::int64_t bytes,
                                                Collective collective = Collective::all_reduce) {
  return simulate(machine, {.collective = collective, .algorithm = algorithm, .ranks = 8, .bytes = {bytes}},
                  {.backend = Backend::mpi});
}

double seconds(const Machine& machine, const char* algorithm, std::int64_t bytes,
               Collective collective = Collective::all_reduce) {
  return std::get<Prediction>(predicted(machine, algorithm, bytes, collective)).seconds.value;
}

TEST(MpiRules, NativeIsPredictedAsTheAlgorithmThatRuns) {
  const Machine machine = machine_with(kOpenMpi);
  for (const auto& [bytes, ours] :
       {std::pair{4096, "recursive_doubling"}, std::pair{8192, "halving_doubling"}}) {
    EXPECT_EQ(seconds(machine, "native", bytes), seconds(machine, ours, bytes));
  }
  EXPECT_EQ(seconds(machine, "native", 4096, Collective::all_to_all),
            seconds(machine, "direct", 4096, Collective::all_to_all));
  EXPECT_THAT(std::get<Unpredicted>(predicted(machine_with(nullptr), "native", 4096)).reason,
              HasSubstr("software: {mpi: Open MPI 4.1.4}"));
}

/// Two nodes of four ranks.
Machine cluster_with(const char* library) {
  Machine machine = machine_with(library);
  machine.nodes = 2;
  machine.gpus_per_node = 4;
  machine.inter = InterLink{.kind = InterKind::custom, .nics = 1};
  machine.inter->latency = Seconds{20e-6};
  machine.inter->bandwidth = BytesPerSecond{1e8};
  return machine;
}

TEST(MpiRules, PartsFollowOneAnother) {
  const double time = seconds(cluster_with(kMpich), "native", 4);
  EXPECT_NEAR(time, 2e-6 + 20e-6 + 2e-6, 1e-6) << "two steps in a node, one between nodes, two in a node";
}

TEST(MpiRules, PartsAddTheirIntervals) {
  Machine machine;
  machine.gpus_per_node = 4;
  machine.software.mpi = kMpich;
  machine.calibrated = Calibrated{.latency = {1e-6}, .bandwidth = {1e12}, .reduction = {}};
  machine.calibrated->backend = "mpi";
  machine.calibrated->between_nodes = BetweenNodes{.latency = {20e-6}, .bandwidth = {1e12}};
  const auto native = [&] { return std::get<Prediction>(predicted(machine, "native", 4)); };
  EXPECT_EQ(native().low, std::nullopt) << "no probe says how far it may be off";
  EXPECT_EQ(native().high, std::nullopt);
  machine.calibrated->latency_interval = Interval<double>{.low = 0.5e-6, .typical = 1e-6, .high = 2e-6};
  machine.calibrated->between_nodes->latency_interval =
      Interval<double>{.low = 16e-6, .typical = 20e-6, .high = 30e-6};
  // Two steps in a node, one between nodes, two in a node.
  EXPECT_NEAR(native().seconds.value, 2e-6 + 20e-6 + 2e-6, 1e-9);
  EXPECT_NEAR(native().low.value().value, 1e-6 + 16e-6 + 1e-6, 1e-9);
  EXPECT_NEAR(native().high.value().value, 4e-6 + 30e-6 + 4e-6, 1e-9);
}

TEST(MpiRules, SegmentsOverlap) {
  const Machine machine = cluster_with("Open MPI 5.0.7");
  const double one = seconds(machine, "native", 64 << 10);
  const double more = seconds(machine, "native", 65 << 20);
  // A reduce, which the library cuts in two, and a broadcast of a segment.
  const double between = 3 * 20e-6 + 2 * 65536 / 1e8;
  EXPECT_GT(one, between);
  EXPECT_NEAR(more, one + 1039 * between, 1e-3 * more);
}

TEST(MpiRules, NumbersAreThoseOfOpenMpisFile) {
  const std::map<std::string, int> numbers = mpi_numbers(kOpenMpi, Collective::all_reduce);
  EXPECT_EQ(numbers.at("recursive_doubling"), 3);
  EXPECT_EQ(numbers.at("halving_doubling"), 6);
  for (const auto& [algorithm, number] : numbers) {
    EXPECT_NE(find_algorithm(Collective::all_reduce, algorithm), nullptr) << algorithm;
  }
  EXPECT_THROW(mpi_numbers(kOpenMpi, Collective::broadcast), Error);
  EXPECT_THROW(mpi_numbers(kMpich, Collective::all_reduce), Error);
}

}  // namespace
}  // namespace ringside
