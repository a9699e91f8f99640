// Files whose `systems` are scenarios: the keys that each takes from beside them, and names.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "files.hpp"
#include "scenario/scenario.hpp"

namespace ringside {
namespace {

using test::Folder;
using test::scenario_problems;
using test::scenario_problems_in;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

constexpr std::string_view kTwo =
    "message_sizes: 1 MiB\n"
    "ranks: 4\n"
    "machine:\n"
    "  gpus_per_node: 4\n"
    "  software: {nccl: 2.20.5, processes: single}\n"
    "  intra: {kind: custom, latency: 1 us, bandwidth: 1 GB/s}\n"
    "measured: times.csv\n"
    "evaluation: {group: lab}\n"
    "systems:\n"
    "  - name: first\n"
    "    evaluation: {source: page 1}\n"
    "  - name: second\n"
    "    ranks: 8\n"
    "    machine: {nodes: 2, software: {nccl: 2.21.0}, inter: {kind: infiniband, rate: 200 Gb/s}}\n"
    "    evaluation: {source: page 2, excluded: a guess}\n";

TEST(SourceFile, ASystemIsItsKeysOnTopOfThoseBesideThem) {
  const Folder folder;
  folder.write("times.csv", "");
  const auto scenarios = load_scenarios(folder.write("lab.yaml", kTwo), test::known_names());
  ASSERT_THAT(scenarios, SizeIs(2));
  const Scenario& first = scenarios[0];
  const Scenario& second = scenarios[1];
  EXPECT_EQ(first.name, "first");
  EXPECT_TRUE(first.is_system);
  EXPECT_EQ(first.evaluation, (Evaluation{.source = "page 1", .group = "lab"}));
  EXPECT_EQ(first.machine->nodes, 1);
  EXPECT_EQ(first.machine->software.processes, Processes::single);
  EXPECT_EQ(second.evaluation, (Evaluation{.source = "page 2", .group = "lab", .excluded = "a guess"}));
  EXPECT_THAT(second.ranks, ElementsAre(8));
  EXPECT_EQ(second.machine->nodes, 2);
  EXPECT_EQ(second.machine->gpus_per_node, 4) << "of a map key by key";
  EXPECT_FALSE(second.machine->software.processes) << "of a map in a map as a whole";
  for (const Scenario& scenario : scenarios) {
    EXPECT_EQ(scenario.measured->filename(), "times.csv");
    EXPECT_EQ(scenario.file.filename(), "lab.yaml");
  }
}

TEST(SourceFile, OneIsAskedForByName) {
  const Folder folder;
  folder.write("times.csv", "");
  const std::string file = folder.write("lab.yaml", kTwo).string();
  EXPECT_EQ(load_scenario(file + "#second", test::known_names()).name, "second");
  EXPECT_EQ(
      load_scenario(
          folder.write("one#a.yaml", "{systems: [{name: a, ranks: 2, message_sizes: 1 KiB, machine: this}]}"),
          test::known_names())
          .name,
      "a");
  EXPECT_THAT(scenario_problems_in(folder, "lab.yaml"),
              ElementsAre(AllOf(StartsWith("lab.yaml: holds 2 systems"), HasSubstr("lab.yaml#first"))));
  EXPECT_THAT(scenario_problems_in(folder, "lab.yaml#secnd"),
              ElementsAre("lab.yaml: unknown system 'secnd'; did you mean 'second'? Known: first, second"));
  EXPECT_THAT(scenario_problems_in(folder, "bar.yaml#first"), ElementsAre("bar.yaml: there is no such file"));
}

TEST(SourceFile, ProblemsStandWhereTheyAreWrittenOnceEach) {
  EXPECT_THAT(
      scenario_problems("message_sizes: 1\n"
                        "machine: this\n"
                        "systems:\n"
                        "  - {name: a, ranks: 0}\n"
                        "  - {name: b}\n"
                        "  - {name: a, ranks: 2, rnaks: 4}\n"),
      ElementsAre(StartsWith("case.yaml:1:16: message_sizes: "), StartsWith("case.yaml:4:22: ranks: "),
                  StartsWith("case.yaml:5:5: ranks: is missing"),
                  "case.yaml:6:5: another system is called 'a'",
                  StartsWith("case.yaml:6:25: rnaks: is no key")));
}

TEST(SourceFile, AMapThatIsPutTogetherStandsWhereTheSystemHasIt) {
  EXPECT_THAT(scenario_problems("{ranks: 2, message_sizes: 1 KiB, machine: {nodes: 1}, systems: [\n"
                                "  {name: a, machine: {gpus_per_node: 2}}]}\n"),
              ElementsAre(StartsWith("case.yaml:2:13: machine: says nothing of its links")));
}

TEST(SourceFile, SystemsAreAListOfMapsWithNames) {
  EXPECT_THAT(scenario_problems("systems: 4\n"),
              ElementsAre(StartsWith("case.yaml:1:10: systems: is a single value; write a list")));
  EXPECT_THAT(scenario_problems("systems: []\n"),
              ElementsAre(StartsWith("case.yaml:1:10: systems: is an empty list")));
  EXPECT_THAT(scenario_problems("systems:\n  - {ranks: 4}\n  - [a]\n  - b\n"),
              ElementsAre(HasSubstr(":2:5: systems: is no map with a `name`"), HasSubstr(":3:5: "),
                          HasSubstr(":4:5: ")));
  EXPECT_THAT(
      scenario_problems(
          "ranks: 2\nmessage_sizes: 1 KiB\nmachine: this\nsystems:\n  - {name: a, systems: [{name: b}]}\n"),
      ElementsAre(StartsWith("case.yaml:5:15: systems: is no key here")));
}

}  // namespace
}  // namespace ringside
