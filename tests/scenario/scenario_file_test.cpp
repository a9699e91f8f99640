// 400 lines: each key of a scenario, read right and refused with its message.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "files.hpp"
#include "scenario/scenario.hpp"

namespace ringside {
namespace {

using test::Folder;
using test::scenario_of;
using test::scenario_problems;
using test::scenario_problems_in;
using test::scenario_with;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

std::vector<std::int64_t> sizes_of(std::string_view text) {
  std::vector<std::int64_t> sizes;
  for (const Bytes size : scenario_of(scenario_with(text)).message_sizes) {
    sizes.push_back(size.value);
  }
  return sizes;
}

TEST(ScenarioFile, WhatIsLeftOutHasItsDefault) {
  const Scenario scenario = scenario_of("ranks: 4\nmessage_sizes: 1 MiB\nmachine: this\n");
  EXPECT_EQ(scenario.name, "case") << "the file's name";
  EXPECT_EQ(scenario.collective, Collective::all_reduce);
  EXPECT_THAT(scenario.algorithms, ElementsAre("naive", "tutorial_ring", "ring"));
  EXPECT_THAT(scenario.ranks, ElementsAre(4));
  EXPECT_THAT(scenario.message_sizes, ElementsAre(Bytes{1048576}));
  EXPECT_EQ(scenario.dtype, DataType::float32);
  EXPECT_EQ(scenario.op, ReduceOp::sum);
  EXPECT_EQ(scenario.backend, Backend::automatic);
  EXPECT_FALSE(scenario.machine);
  EXPECT_FALSE(scenario.measured);
  EXPECT_EQ(scenario.file.filename(), "case.yaml");
}

TEST(ScenarioFile, EveryKeyIsTaken) {
  const Folder folder;
  folder.write("run.jsonl", "");
  folder.write("machines/box.yaml", "intra: {kind: custom, latency: 1 us, bandwidth: 1 GB/s}\n");
  const auto file =
      folder.write("case.yaml",
                   "name: all keys\ncollective: reduce_scatter\nalgorithms: [direct, native]\nranks: [2, 3]\n"
                   "message_sizes: [24 B, 1 KiB]\ndtype: int64\nop: avg\nbackend: mpi\n"
                   "machine: machines/box.yaml\nmeasured: run.jsonl\n");
  const Scenario scenario = load_scenario(file, test::known_names());
  EXPECT_EQ(scenario.name, "all keys");
  EXPECT_EQ(scenario.collective, Collective::reduce_scatter);
  EXPECT_THAT(scenario.algorithms, ElementsAre("direct", "native"));
  EXPECT_THAT(scenario.ranks, ElementsAre(2, 3));
  EXPECT_THAT(scenario.message_sizes, ElementsAre(Bytes{24}, Bytes{1024}));
  EXPECT_EQ(scenario.dtype, DataType::int64);
  EXPECT_EQ(scenario.op, ReduceOp::avg);
  EXPECT_EQ(scenario.backend, Backend::mpi);
  ASSERT_TRUE(scenario.machine);
  EXPECT_EQ(scenario.machine->name, "box");
  EXPECT_EQ(scenario.machine->origin, (folder.path() / "machines/box.yaml").string());
  EXPECT_EQ(scenario.measured, folder.path() / "run.jsonl");
  EXPECT_EQ(scenario.file, file);
}

TEST(ScenarioFile, OtherCollectivesCompareAllTheirAlgorithms) {
  EXPECT_THAT(scenario_of(scenario_with("collective: broadcast\n")).algorithms,
              ElementsAre("direct", "ring", "native"));
}

TEST(ScenarioFile, ASingleValueIsAListOfOne) {
  const Scenario scenario = scenario_of(scenario_with("algorithms: ring\n"));
  EXPECT_THAT(scenario.algorithms, ElementsAre("ring"));
}

TEST(ScenarioFile, RequiredKeysAreAskedForTogether) {
  EXPECT_THAT(scenario_problems("# comment\nname: x\n"),
              ElementsAre(StartsWith("case.yaml:2:1: ranks: is missing; write"),
                          StartsWith("case.yaml:2:1: message_sizes: is missing; write"),
                          StartsWith("case.yaml:2:1: machine: is missing; write")));
}

TEST(ScenarioFile, EveryProblemIsReportedInTheOrderOfTheFile) {
  EXPECT_THAT(
      scenario_problems("rnaks: 2\nranks: 0\nmessage_sizes: 80\nmachine:\n"
                        "  intra: {kind: custom, latency: 10, bandwidth: -10 GB/s}\ndtype: flaot32\n"),
      ElementsAre(StartsWith("case.yaml:1:1: rnaks: "), StartsWith("case.yaml:2:8: ranks: "),
                  StartsWith("case.yaml:3:16: message_sizes: "),
                  StartsWith("case.yaml:5:34: machine.intra.latency: "),
                  StartsWith("case.yaml:5:49: machine.intra.bandwidth: "),
                  StartsWith("case.yaml:6:8: dtype: ")));
}

TEST(ScenarioFile, UnknownKeysAndWordsAreAnsweredWithTheNearest) {
  EXPECT_THAT(scenario_problems(scenario_with("rnaks: 3\n")),
              ElementsAre(AllOf(HasSubstr("did you mean 'ranks'?"), HasSubstr("message_sizes"))));
  EXPECT_THAT(scenario_problems(scenario_with("xyz: 3\n")), ElementsAre(Not(HasSubstr("did you mean"))));
  EXPECT_THAT(scenario_problems(scenario_with("algorithms: [naive, rng]\n")),
              ElementsAre("case.yaml:4:21: algorithms: unknown algorithm 'rng'; did you mean 'ring'? "
                          "Known: naive, circulating_ring, tutorial_ring, ring, halving_doubling, native"));
  EXPECT_THAT(scenario_problems(scenario_with("dtype: flaot32\n")),
              ElementsAre(HasSubstr("did you mean 'float32'?")));
  EXPECT_THAT(scenario_problems(scenario_with("op: summ\n")), ElementsAre(HasSubstr("did you mean 'sum'?")));
  EXPECT_THAT(scenario_problems(scenario_with("backend: GLOO\n")),
              ElementsAre(HasSubstr("did you mean 'gloo'?")));
  EXPECT_THAT(scenario_problems(scenario_with("collective: allreduce\n")),
              ElementsAre(HasSubstr("did you mean 'all_reduce'?")));
}

TEST(ScenarioFile, RanksPerNodeGoToTheMachineAndFitItsNodes) {
  const auto text = [](const std::string& keys) {
    return keys +
           "message_sizes: 1 MiB\nmachine: {nodes: 2, gpus_per_node: 8, intra: {kind: custom, latency: 1 us, "
           "bandwidth: 1 GB/s}, inter: {kind: custom, latency: 9 us, bandwidth: 1 GB/s}}\n";
  };
  const Scenario scenario = scenario_of(text("ranks: 8\nranks_per_node: 4\n"));
  EXPECT_EQ(scenario.ranks_per_node, 4);
  EXPECT_EQ(scenario.machine->ranks_per_node, 4);
  EXPECT_THAT(scenario_problems(text("ranks: 8\nranks_per_node: 9\n")),
              ElementsAre(HasSubstr("ranks_per_node: is 9, but a node of")));
  EXPECT_THAT(scenario_problems(text("ranks: 9\nranks_per_node: 4\n")),
              ElementsAre(HasSubstr("9 ranks, 4 per node, need more than the 2 nodes")));
  EXPECT_THAT(scenario_problems("ranks: 8\nranks_per_node: 4\nmessage_sizes: 1 MiB\nmachine: this\n"),
              ElementsAre(HasSubstr("has no effect with `machine: this`")));
}

TEST(ScenarioFile, AnAlgorithmOfAnotherCollectiveIsUnknownHere) {
  EXPECT_THAT(scenario_problems(scenario_with("collective: broadcast\nalgorithms: [halving_doubling]\n")),
              ElementsAre(HasSubstr(
                  "unknown algorithm of broadcast 'halving_doubling'. Known: direct, ring, native")));
}

TEST(ScenarioFile, AMisspeltCollectiveIsNotFollowedByComplaintsAboutItsAlgorithms) {
  EXPECT_THAT(scenario_problems(scenario_with("collective: broadcst\nalgorithms: [direct]\n")),
              ElementsAre(HasSubstr("did you mean 'broadcast'?")));
}

TEST(ScenarioFile, RanksThatAreOneOnlyForTestsAreNoBackend) {
  EXPECT_THAT(scenario_problems(scenario_with("backend: threads\n")), SizeIs(1));
}

TEST(ScenarioFile, RanksAreWholeNumbersFromOneToTheLimit) {
  for (const char* ranks : {"0", "-3", "16777217", "99999999999999999999", "-99999999999999999999"}) {
    EXPECT_THAT(scenario_problems(scenario_with(std::string("ranks: ") + ranks + "\n")),
                ElementsAre(AllOf(HasSubstr("out of range"), HasSubstr("from 1 to 16,777,216"))))
        << ranks;
  }
  for (const char* ranks : {"x", "2.5", "4 ranks", "1e3", "0x10", "inf", "nan", "+4", "''"}) {
    EXPECT_THAT(scenario_problems(scenario_with(std::string("ranks: ") + ranks + "\n")),
                ElementsAre(HasSubstr("is not a whole number")))
        << ranks;
  }
  EXPECT_THAT(
      scenario_problems(scenario_with("ranks: [2, x, 0]\n")),
      ElementsAre(StartsWith("case.yaml:3:12: ranks: 'x'"), StartsWith("case.yaml:3:15: ranks: '0'")));
  EXPECT_THAT(scenario_of(scenario_with("ranks: [1, 16777216]\n")).ranks, ElementsAre(1, 16777216));
}

TEST(ScenarioFile, AnEntryThatStandsTwiceIsAMistake) {
  EXPECT_THAT(scenario_problems(scenario_with("ranks: [2, 4, 2]\n")),
              ElementsAre("case.yaml:3:15: ranks: '2' stands twice in the list"));
  EXPECT_THAT(scenario_problems(scenario_with("algorithms: [ring, ring]\n")),
              ElementsAre(HasSubstr("stands twice")));
  EXPECT_THAT(scenario_problems(scenario_with("message_sizes: [1 MiB, 1024 KiB]\n")),
              ElementsAre(HasSubstr("'1024 KiB' stands twice")));
}

TEST(ScenarioFile, AKeyThatStandsTwiceIsAMistake) {
  EXPECT_THAT(scenario_problems(scenario_with("name: x\nname: y\n")),
              ElementsAre("case.yaml:5:1: name: is given twice; the first is in line 4"));
}

TEST(ScenarioFile, EmptyValuesAndListsAreMistakes) {
  for (const char* key : {"name", "collective", "algorithms", "ranks", "message_sizes", "dtype", "op",
                          "backend", "machine", "measured"}) {
    for (const char* nothing : {"", " ~", " null"}) {
      EXPECT_THAT(scenario_problems(scenario_with(std::string(key) + ":" + nothing + "\n")),
                  ElementsAre(AllOf(HasSubstr(std::string(key) + ": has no value; write"))))
          << key << nothing;
    }
  }
  for (const char* key : {"algorithms", "ranks", "message_sizes"}) {
    EXPECT_THAT(scenario_problems(scenario_with(std::string(key) + ": []\n")),
                ElementsAre(HasSubstr("is an empty list")));
    EXPECT_THAT(scenario_problems(scenario_with(std::string(key) + ": [~]\n")),
                ElementsAre(HasSubstr("has no value")));
    EXPECT_THAT(scenario_problems(scenario_with(std::string(key) + ": [[]]\n")),
                ElementsAre(HasSubstr("is a list")));
  }
  EXPECT_THAT(scenario_problems(scenario_with("name: '  '\n")), ElementsAre(HasSubstr("is empty")));
}

TEST(ScenarioFile, ValuesOfTheWrongShapeSayWhichIsRight) {
  for (const char* key : {"name", "collective", "dtype", "op", "backend", "measured"}) {
    EXPECT_THAT(scenario_problems(scenario_with(std::string(key) + ": [a]\n")),
                ElementsAre(HasSubstr("is a list; write")));
    EXPECT_THAT(scenario_problems(scenario_with(std::string(key) + ": {a: 1}\n")),
                ElementsAre(HasSubstr("is a map; write")));
  }
  EXPECT_THAT(scenario_problems(scenario_with("algorithms: {a: 1}\n")),
              ElementsAre(HasSubstr("is a map; write a list")));
  EXPECT_THAT(scenario_problems(scenario_with("ranks: {from: 2, to: 4}\n")),
              ElementsAre(HasSubstr("is a map; write")));
  EXPECT_THAT(scenario_problems(scenario_with("machine: [a]\n")),
              ElementsAre(HasSubstr("is a list; write a name of `ringside list machines`")));
  EXPECT_THAT(scenario_problems(scenario_with("? [a, b]\n: 1\n")), ElementsAre(HasSubstr("a key is a list")));
}

TEST(ScenarioFile, ANameThatIsNoFolderNameIsRefused) {
  for (const char* name : {"a/b", "/etc", "..", "."}) {
    EXPECT_THAT(scenario_problems(scenario_with(std::string("name: ") + name + "\n")),
                ElementsAre(HasSubstr("folder")));
  }
}

// --- Message sizes -----------------------------------------------------------------------------------------

TEST(ScenarioFile, ASizeWithoutAUnitSaysSoAndShowsOne) {
  EXPECT_THAT(scenario_problems(scenario_with("message_sizes: [80000000]\n")),
              ElementsAre(AllOf(StartsWith("case.yaml:3:17: message_sizes: '80000000' has no unit"),
                                HasSubstr("4 KiB"))));
}

TEST(ScenarioFile, ARangeMultipliesAndAlwaysIncludesItsEnd) {
  EXPECT_THAT(sizes_of("message_sizes: {from: 4 KiB, to: 64 KiB, factor: 4}\n"),
              ElementsAre(4096, 16384, 65536));
  EXPECT_THAT(sizes_of("message_sizes: {from: 4 KiB, to: 64 KiB}\n"), ElementsAre(4096, 16384, 65536))
      << "factor 4";
  EXPECT_THAT(sizes_of("message_sizes: {from: 4 KiB, to: 20 KiB, factor: 2}\n"),
              ElementsAre(4096, 8192, 16384, 20480));
  EXPECT_THAT(sizes_of("message_sizes: {from: 4 KiB, to: 4 KiB}\n"), ElementsAre(4096));
  EXPECT_THAT(sizes_of("message_sizes: {from: 4 B, to: 8 B, factor: 1000}\n"), ElementsAre(4, 8));
}

TEST(ScenarioFile, SizesInsideARangeAreRoundedToWholeElements) {
  EXPECT_THAT(sizes_of("message_sizes: {from: 12 B, to: 48 B, factor: 1.5}\n"),
              ElementsAre(12, 20, 28, 40, 48));
  EXPECT_THAT(sizes_of("message_sizes: {from: 8 B, to: 40 B, factor: 1.5}\ndtype: float64\n"),
              ElementsAre(8, 16, 24, 40));
  EXPECT_THAT(sizes_of("message_sizes: {from: 4 B, to: 16 B, factor: 1.1}\n"), ElementsAre(4, 8, 12, 16))
      << "none twice";
}

TEST(ScenarioFile, ARangeThatLeadsNowhereIsRefused) {
  EXPECT_THAT(scenario_problems(scenario_with("message_sizes: {from: 4 MiB, to: 4 KiB}\n")),
              ElementsAre(HasSubstr("`from` (4 MiB) is larger than `to` (4 KiB)")));
  EXPECT_THAT(scenario_problems(scenario_with("message_sizes: {from: 4 KiB, to: 4 MiB, factor: 1}\n")),
              ElementsAre(StartsWith("case.yaml:3:49: message_sizes.factor: 1 leads nowhere")));
  for (const char* factor : {"0.5", "-2", "0", "x", "nan", "inf", "1e400"}) {
    EXPECT_THAT(scenario_problems(scenario_with(
                    std::string("message_sizes: {from: 4 KiB, to: 4 MiB, factor: ") + factor + "}\n")),
                ElementsAre(HasSubstr("message_sizes.factor")))
        << factor;
  }
  EXPECT_THAT(scenario_problems(scenario_with("message_sizes: {from: 4 KiB, too: 4 MiB}\n")),
              ElementsAre(HasSubstr("message_sizes.to: is missing"), HasSubstr("did you mean 'to'?")));
}

TEST(ScenarioFile, MoreThanAThousandSizesAreRefusedAtOnce) {
  for (const char* factor : {"1.01", "1.000000000001"}) {
    EXPECT_THAT(scenario_problems(scenario_with(
                    std::string("message_sizes: {from: 4 B, to: 1000000 GB, factor: ") + factor + "}\n")),
                ElementsAre(HasSubstr("is more than 1000 sizes")));
  }
  std::string list = "message_sizes: [4 B";
  for (int i = 2; i <= 1001; ++i) {
    list += ", " + std::to_string(4 * i) + " B";
  }
  EXPECT_THAT(scenario_problems(scenario_with(list + "]\n")), ElementsAre(HasSubstr("has 1001 entries")));
}

TEST(ScenarioFile, ASizeIsAWholeNumberOfElements) {
  EXPECT_THAT(scenario_problems(scenario_with("message_sizes: [4 KiB, 1001 B]\n")),
              ElementsAre("case.yaml:3:24: message_sizes: '1001 B' is no whole number of float32 (4 bytes "
                          "each); the nearest is 1000 B"));
  EXPECT_THAT(scenario_problems(scenario_with("message_sizes: 1 B\n")),
              ElementsAre(HasSubstr("the nearest is 4 B")));
  EXPECT_THAT(scenario_problems(scenario_with("message_sizes: 4 B\ndtype: float64\n")),
              ElementsAre(HasSubstr("the nearest is 8 B")));
  EXPECT_THAT(scenario_problems(scenario_with("message_sizes: 1003 B\n")),
              ElementsAre(HasSubstr("the nearest is 1004 B")));
  EXPECT_THAT(scenario_problems(scenario_with("message_sizes: {from: 6 B, to: 4 KiB}\n")),
              ElementsAre(StartsWith("case.yaml:3:23: message_sizes.from")));
  EXPECT_THAT(sizes_of("message_sizes: 2 B\ndtype: bfloat16\n"), ElementsAre(2));
}

TEST(ScenarioFile, AMisspeltDtypeIsNotFollowedByComplaintsAboutSizes) {
  EXPECT_THAT(scenario_problems(scenario_with("message_sizes: 1001 B\ndtype: floa16\n")),
              ElementsAre(HasSubstr("dtype")));
}

TEST(ScenarioFile, AMessageHoldsSomethingAndFitsSomewhere) {
  EXPECT_THAT(scenario_problems(scenario_with("message_sizes: 0 B\n")),
              ElementsAre(HasSubstr("more than zero")));
  EXPECT_THAT(scenario_problems(scenario_with("message_sizes: -4 KiB\n")),
              ElementsAre(HasSubstr("not negative")));
  EXPECT_THAT(scenario_problems(scenario_with("message_sizes: 2000000 GB\n")),
              ElementsAre(HasSubstr("more than 1 PiB")));
  EXPECT_THAT(sizes_of("message_sizes: 1125899906842624 B\n"), ElementsAre(std::int64_t{1} << 50));
}

TEST(ScenarioFile, AThousandSizesAreTheMost) {
  // 1.01 to the power of 998.5 and of 999.5; both ends of a range count.
  EXPECT_THAT(sizes_of("message_sizes: {from: 1 MiB, to: 21651681764 B, factor: 1.01}\n"), SizeIs(1000));
  EXPECT_THAT(
      scenario_problems(scenario_with("message_sizes: {from: 1 MiB, to: 21868198584 B, factor: 1.01}\n")),
      ElementsAre(HasSubstr("is more than 1000 sizes")));
}

TEST(ScenarioFile, AStragglerIsOneOfItsRanks) {
  const auto with_straggler = [](int rank) {
    return "ranks: [2, 4]\nmessage_sizes: 1 MiB\nmachine: {intra: {kind: custom, latency: 1 us, bandwidth: "
           "1 GB/s}, stragglers: [{rank: " +
           std::to_string(rank) + ", slowdown: 2}]}\n";
  };
  EXPECT_THAT(scenario_problems(with_straggler(3)), IsEmpty());
  EXPECT_THAT(scenario_problems(with_straggler(4)),
              ElementsAre(HasSubstr("rank 4 is a straggler, but this scenario has 4 ranks, 0 to 3")));
}

TEST(ScenarioFile, ItsSoftwareCountsMoreThanThatOfTheMachine) {
  const Scenario scenario = scenario_of(scenario_with(
      "software: {nccl_algo: Ring}\nmachine: {intra: {kind: custom, latency: 1 us, bandwidth: 1 "
      "GB/s}, software: {nccl_algo: Tree, nccl_proto: LL}}\n"));
  EXPECT_EQ(scenario.software.nccl_algo, "Ring");
  EXPECT_EQ(scenario.software.nccl_proto, "LL");
}

// --- Machine and measurements ------------------------------------------------------------------------------

TEST(ScenarioFile, AnInlineMachineIsNamedAfterTheFileAndItsKeysAreNamedInFull) {
  const Scenario scenario =
      scenario_of(scenario_with("machine:\n  intra: {kind: custom, latency: 1 us, bandwidth: 1 GB/s}\n"));
  ASSERT_TRUE(scenario.machine);
  EXPECT_EQ(scenario.machine->name, "case");
  EXPECT_THAT(scenario.machine->origin, HasSubstr("case.yaml"));
  EXPECT_THAT(scenario_problems(scenario_with("machine: {intra: {kind: custom, latency: 1 us}}\n")),
              ElementsAre(StartsWith("case.yaml:3:18: machine.intra.bandwidth: is missing")));
}

TEST(ScenarioFile, ProblemsOfAMachineFileAreReportedTogetherWithItsOwnPositions) {
  const Folder folder;
  folder.write("machines/box.yaml", "intra: {kind: custom, latency: 1 us}\nnodez: 2\n");
  folder.write("scenarios/case.yaml", scenario_with("machine: ../machines/box.yaml\nranks: 0\n"));
  EXPECT_THAT(scenario_problems_in(folder, "scenarios/case.yaml"),
              ElementsAre(StartsWith("scenarios/case.yaml:3:8: ranks:"),
                          StartsWith("machines/box.yaml:1:8: intra.bandwidth: is missing"),
                          StartsWith("machines/box.yaml:2:1: nodez: ")));
}

TEST(ScenarioFile, AMachineFileThatIsNotThereIsAnsweredWithThoseThatAre) {
  const Folder folder;
  folder.write("machines/4x-rtx3090.yaml", "");
  folder.write("machines/8x-a100.yaml", "");
  folder.write("machines/notes.txt", "");
  for (const char* meant : {"../machines/4x-rtx3091.yaml", "4x-rtx3090", "../machine/4x-rtx3090.yaml"}) {
    folder.write("scenarios/case.yaml", scenario_with(std::string("machine: ") + meant + "\n"));
    EXPECT_THAT(scenario_problems_in(folder, "scenarios/case.yaml"),
                ElementsAre(AllOf(StartsWith("scenarios/case.yaml:3:10: machine: "),
                                  HasSubstr("is neither a file, nor the name of a machine, nor `this`"),
                                  HasSubstr("did you mean '../machines/4x-rtx3090.yaml'?"),
                                  HasSubstr("../machines/8x-a100.yaml"), Not(HasSubstr("notes")))))
        << meant;
  }
  folder.write("scenarios/case.yaml", scenario_with("machine: thsi\n"));
  EXPECT_THAT(scenario_problems_in(folder, "scenarios/case.yaml"),
              ElementsAre(HasSubstr("did you mean 'this'?")));
  folder.write("scenarios/case.yaml", scenario_with("machine: ../machines\n"));
  EXPECT_THAT(scenario_problems_in(folder, "scenarios/case.yaml"), ElementsAre(HasSubstr("is a directory")));
}

// --- Machines by name

constexpr const char* kNode =
    "name: Node\ngpus_per_node: 8\nintra: {kind: nvlink, generation: 3, links_per_gpu: 12, switch: true}\n"
    "inter: {kind: efa, generation: 1, rate: 100 Gb/s, nics: 4}\nprice: {per_hour: 20.5 USD}\n";

/// A scenario in a folder of its own, and machines elsewhere.
class NamedMachine : public testing::Test {
 protected:
  NamedMachine() {
    folder_.write("installed/P4d.24xlarge.yaml", kNode);
    folder_.write("installed/cluster.yaml", std::string("nodes: 2\n") + kNode);
    folder_.write("installed/box.yaml", "gpus_per_node: 4\nintra: {kind: pcie, generation: 4}\n");
  }

  Scenario load(const std::string& machine) {
    KnownNames known = test::known_names();
    known.machines = folder_.path() / "installed";
    return load_scenario(folder_.write("elsewhere/case.yaml", scenario_with("machine: " + machine + "\n")),
                         known);
  }

  std::string problem(const std::string& machine) {
    try {
      load(machine);
    } catch (const Error& error) {
      return error.what();
    }
    return "no problem";
  }

  Folder folder_;
};

TEST_F(NamedMachine, IsFoundInAnyCase) {
  for (const char* name : {"P4d.24xlarge", "p4d.24xlarge", "1 x p4d.24xlarge"}) {
    EXPECT_EQ(load(name).machine->name, "Node") << name;
  }
}

TEST_F(NamedMachine, SeveralNodesOfItCostAsManyTimesItsPrice) {
  for (const char* name : {"3 x p4d.24xlarge", "3 × P4D.24xlarge"}) {
    const Machine machine = *load(name).machine;
    EXPECT_EQ(machine.name, "3 × Node");
    EXPECT_EQ(machine.nodes, 3);
    EXPECT_EQ(machine.price->per_hour, 61.5);
  }
}

TEST_F(NamedMachine, OneNodeWithoutANetworkAndACountOfAClusterAreRefused) {
  EXPECT_THAT(problem("2 x box"), HasSubstr("3:10: machine: 'box' does not say what connects its nodes"));
  EXPECT_THAT(problem("2 x cluster"), HasSubstr("'Node' is a machine of 2 nodes already"));
}

TEST_F(NamedMachine, AFileBesideTheScenarioComesFirst) {
  folder_.write("elsewhere/box.yaml", std::string(kNode));
  EXPECT_EQ(load("box.yaml").machine->name, "Node");
  EXPECT_EQ(load("box").machine->name, "box");
}

TEST_F(NamedMachine, AnUnknownOneIsAnsweredWithTheNearestAndHowToDescribeIt) {
  EXPECT_THAT(problem("p4de.24xlarge"),
              AllOf(HasSubstr("'p4de.24xlarge' is neither a file, nor the name of a machine"),
                    HasSubstr("did you mean 'P4d.24xlarge'?"), HasSubstr("`ringside list machines`"),
                    HasSubstr("described by hand, such as {gpus_per_node: 8")));
  EXPECT_THAT(problem("2 x p4de.24xlarge"), HasSubstr("did you mean 'P4d.24xlarge'?"));
  EXPECT_THAT(problem("0 x box"), HasSubstr("is neither"));
}

TEST(ScenarioFile, AMachineFileThatIsNoYamlIsOneProblem) {
  const Folder folder;
  folder.write("empty.yaml", "");
  folder.write("case.yaml", scenario_with("machine: empty.yaml\n"));
  EXPECT_THAT(scenario_problems_in(folder, "case.yaml"), ElementsAre(StartsWith("empty.yaml: is empty")));
}

TEST(ScenarioFile, MoreRanksThanGpusAreRefused) {
  const std::string machine =
      "machine:\n  gpus_per_node: 4\n  intra: {kind: custom, latency: 1 us, bandwidth: 1 GB/s}\n";
  EXPECT_THAT(scenario_problems(scenario_with("ranks: [2, 5]\n" + machine)),
              ElementsAre(AllOf(HasSubstr(":12: ranks: 5 ranks"), HasSubstr("has 4"))));
  EXPECT_THAT(scenario_of(scenario_with("ranks: [2, 4]\n" + machine)).ranks, SizeIs(2));
}

TEST(ScenarioFile, MeasurementsThatAreNotThereAreMissedAtOnce) {
  EXPECT_THAT(scenario_problems(scenario_with("measured: run.jsonl\n")),
              ElementsAre(AllOf(StartsWith("case.yaml:4:11: measured: "), HasSubstr("run.jsonl"))));
  const std::string longer = std::string(100, 'x') + ".jsonl";
  EXPECT_THAT(scenario_problems(scenario_with("measured: " + longer + "\n")), ElementsAre(HasSubstr(longer)))
      << "a path is said to its end";
}

}  // namespace
}  // namespace ringside
