// The files that ship with the program, and files that loader and schemas must refuse alike.

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "common/text.hpp"
#include "files.hpp"
#include "scenario/machine/catalog.hpp"
#include "scenario/scenario.hpp"
#include "schedule/registry.hpp"
#include "tests/paths.hpp"

namespace ringside {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

const std::filesystem::path kSource = RINGSIDE_SOURCE_DIR;

std::vector<std::filesystem::path> yaml_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(kSource / folder)) {
    if (entry.path().extension() == ".yaml") {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  EXPECT_THAT(files, Not(IsEmpty())) << folder;
  return files;
}

Machine shipped_machine(const std::string& name) { return load_machine(kSource / "configs/machines" / name); }

Scenario shipped_scenario(const std::string& name) {
  return load_scenario(kSource / "configs/scenarios" / name, test::known_names());
}

TEST(Configs, EveryMachineLoadsAndReadsBack) {
  for (const auto& file : yaml_files("configs/machines")) {
    const Machine machine = load_machine(file);
    const std::string yaml = to_yaml(machine);
    EXPECT_EQ(to_yaml(parse_machine(yaml, "round trip")), yaml) << file;
  }
}

TEST(Configs, EveryNamedMachineHasAGpuOfTheCatalogueAndAPriceWithItsDateOrItsReason) {
  std::set<std::string> models;
  for (const GpuSheet& sheet : gpu_sheets()) {
    models.insert(sheet.model);
  }
  models.insert("V100-SXM3-32GB");  // Found as the SXM2 board's, of which it is a faster clocked one.
  for (const auto& file : yaml_files("configs/machines")) {
    const Machine machine = load_machine(file);
    EXPECT_TRUE(!machine.gpu || models.contains(machine.gpu->model)) << file;
    EXPECT_TRUE(!machine.price || machine.price->currency == "USD") << file;
  }
}

TEST(Configs, EveryGpuOfTheCatalogueIsThereOnceAndAddsUp) {
  std::set<std::string> models;
  for (const GpuSheet& sheet : gpu_sheets()) {
    SCOPED_TRACE(sheet.model);
    EXPECT_TRUE(models.insert(sheet.model).second);
    EXPECT_EQ(sheet.vendor == Vendor::amd,
              sheet.architecture == Architecture::cdna || sheet.architecture == Architecture::rdna);
    EXPECT_FALSE(sheet.nvlink_generation && sheet.xgmi_generation);
    EXPECT_EQ(sheet.links.has_value(), sheet.nvlink_generation || sheet.xgmi_generation);
    EXPECT_EQ(sheet.links.has_value(), sheet.links_bandwidth.has_value());
    EXPECT_GT(sheet.memory_bandwidth, (BytesPerSecond{200e9}));
    EXPECT_LT(sheet.memory_bandwidth, (BytesPerSecond{10e12}));
  }
}

/// The algorithms that there really are.
std::vector<std::string> real_algorithms(Collective collective) {
  std::vector<std::string> names = algorithm_names(collective);
  names.emplace_back(kNative);
  return names;
}

TEST(Configs, EveryScenarioLoads) {
  const KnownNames known = {.algorithms = real_algorithms, .machines = kSource / "configs/machines"};
  for (const char* folder : {"configs/scenarios", "configs/evaluation"}) {
    for (const auto& file : yaml_files(folder)) {
      EXPECT_NO_THROW(load_scenarios(file, known)) << file;
    }
  }
}

/// The rows of a table `system,bytes,time_us`, by system.
std::map<std::string, std::set<Bytes>> table_rows(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  EXPECT_EQ(line, "system,bytes,time_us") << file;
  std::map<std::string, std::set<Bytes>> sizes;
  while (std::getline(stream, line)) {
    const std::size_t first = line.find(',');
    const std::size_t second = line.find(',', first + 1);
    const Bytes bytes{std::stoll(line.substr(first + 1, second))};
    EXPECT_TRUE(sizes[line.substr(0, first)].insert(bytes).second) << line;
    EXPECT_GT(std::stod(line.substr(second + 1)), 0) << line;
  }
  return sizes;
}

TEST(Configs, EverySystemOfTheEvaluationSaysItsSourceAndAsksForWhatItsTableHolds) {
  for (const auto& file : yaml_files("configs/evaluation")) {
    std::map<std::string, std::set<Bytes>> measured =
        table_rows(std::filesystem::path(file).replace_extension(".csv"));
    for (const Scenario& scenario : load_scenarios(file, test::known_names())) {
      SCOPED_TRACE(scenario.name);
      ASSERT_TRUE(scenario.evaluation && scenario.machine && scenario.measured);
      EXPECT_TRUE(scenario.is_system);
      std::string source = lower(scenario.evaluation->group);
      std::replace(source.begin(), source.end(), ' ', '-');
      EXPECT_EQ(source, file.stem());
      EXPECT_EQ(scenario.measured->filename(), file.stem().string() + ".csv");
      EXPECT_THAT(scenario.algorithms, ElementsAre("native"));
      ASSERT_THAT(scenario.ranks, testing::SizeIs(1));
      const Machine& machine = *scenario.machine;
      EXPECT_EQ(machine.nodes * machine.gpus_per_node.value_or(0), scenario.ranks.front());
      EXPECT_TRUE(machine.gpu || scenario.evaluation->excluded);
      EXPECT_THAT(measured[scenario.name], testing::ElementsAreArray(scenario.message_sizes));
      measured.erase(scenario.name);
    }
    EXPECT_THAT(measured, IsEmpty()) << file << ": rows of systems that are not there";
  }
}

TEST(Configs, EverySystemOfTheEvaluationIsThereOnce) {
  int excluded = 0;
  std::multiset<std::string> names;
  for (const auto& file : yaml_files("configs/evaluation")) {
    for (const Scenario& scenario : load_scenarios(file, test::known_names())) {
      names.insert(scenario.name);
      EXPECT_EQ(names.count(scenario.name), 1U) << scenario.name;
      excluded += scenario.evaluation->excluded.has_value() ? 1 : 0;
    }
  }
  EXPECT_EQ(names.size(), 185U + 84U + 12U + 10U)
      << "tables of nccl-tests, of other collectives, sweeps of four machines at 2, 4 and 8 GPUs, and tables "
         "of other programs";
  EXPECT_EQ(excluded, 44 + 13);
}

TEST(Configs, EditorsAreToldWhereTheSchemaIs) {
  for (const auto& [folder, schema] :
       {std::pair("configs/machines", "machine"), std::pair("configs/scenarios", "scenario"),
        std::pair("configs/evaluation", "source")}) {
    for (const auto& file : yaml_files(folder)) {
      std::ifstream stream(file);
      std::string first;
      std::getline(stream, first);
      EXPECT_EQ(first, std::string("# yaml-language-server: $schema=../") + schema + ".schema.json") << file;
    }
  }
}

TEST(Configs, WhatIsBrokenIsRefusedByTheLoaderToo) {
  for (const auto& file : yaml_files("tests/scenario/broken/machines")) {
    EXPECT_THROW(load_machine(file, test::known_names()), Error) << file;
  }
  for (const auto& file : yaml_files("tests/scenario/broken/scenarios")) {
    EXPECT_THROW(load_scenario(file, test::known_names()), Error) << file;
  }
  for (const auto& file : yaml_files("tests/scenario/broken/sources")) {
    EXPECT_THROW(load_scenarios(file, test::known_names()), Error) << file;
  }
}

TEST(Configs, WhatTheSchemasAcceptIsAcceptedByTheLoaderToo) {
  for (const auto& file : yaml_files("tests/scenario/accepted/machines")) {
    EXPECT_NO_THROW(load_machine(file, test::known_names())) << file;
  }
  for (const auto& file : yaml_files("tests/scenario/accepted/scenarios")) {
    EXPECT_NO_THROW(load_scenario(file, test::known_names())) << file;
  }
  for (const auto& file : yaml_files("tests/scenario/accepted/sources")) {
    EXPECT_NO_THROW(load_scenarios(file, test::known_names())) << file;
  }
}

TEST(Configs, QuickstartComparesOnThisMachine) {
  const Scenario scenario = shipped_scenario("quickstart.yaml");
  EXPECT_EQ(scenario.name, "quickstart");
  EXPECT_THAT(scenario.algorithms, ElementsAre("naive", "tutorial_ring", "ring", "native"));
  EXPECT_THAT(scenario.ranks, ElementsAre(2, 4));
  EXPECT_EQ(scenario.message_sizes.front(), Bytes{4096});
  EXPECT_EQ(scenario.message_sizes.back(), Bytes{64 << 20});
  EXPECT_EQ(scenario.backend, Backend::automatic);
  EXPECT_FALSE(scenario.machine);
}

TEST(Configs, TheTextbookCaseIsWhatItSays) {
  const Scenario scenario = shipped_scenario("custom-10GBps.yaml");
  EXPECT_THAT(scenario.ranks, ElementsAre(8));
  EXPECT_THAT(scenario.message_sizes, ElementsAre(Bytes{80'000'000}));
  ASSERT_TRUE(scenario.machine && scenario.machine->intra);
  EXPECT_EQ(scenario.machine->intra->latency, Seconds{10e-6});
  EXPECT_EQ(scenario.machine->intra->bandwidth, BytesPerSecond{10e9});
}

TEST(Configs, ConsumerCardsHaveNoPeerToPeer) {
  EXPECT_EQ(shipped_machine("4x-rtx3090-pcie4.yaml").intra->peer_to_peer, false);
  EXPECT_EQ(shipped_scenario("pcie-two-sockets.yaml").machine->intra->peer_to_peer, false);
}

}  // namespace
}  // namespace ringside
