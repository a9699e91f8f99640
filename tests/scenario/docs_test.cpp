// docs/scenario.md and docs/planning.md explain every key of the loader and no others.

#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/probe_kind.hpp"
#include "scenario/keys.hpp"
#include "tests/paths.hpp"

namespace ringside {
namespace {

using testing::ContainerEq;
using testing::HasSubstr;

/// Keys in the first column of the tables below a heading, up to the next one of the same level.
std::set<std::string> keys_of_section(const std::string& heading,
                                      const std::string& page_name = "scenario.md") {
  std::ifstream page(std::string(RINGSIDE_SOURCE_DIR) + "/docs/" + page_name);
  EXPECT_TRUE(page);
  std::set<std::string> keys;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) {
      inside = line == "## " + heading;
    }
    const std::size_t end = line.find("` |");
    if (inside && line.starts_with("| `") && end != std::string::npos) {
      keys.insert(line.substr(3, end - 3));
    }
  }
  return keys;
}

std::set<std::string> paths(const std::vector<KeyDescription>& keys) {
  std::set<std::string> result;
  for (const KeyDescription& key : keys) {
    result.insert(key.path);
  }
  return result;
}

TEST(ScenarioPage, ExplainsEveryKeyOfAScenarioAndNoOthers) {
  EXPECT_THAT(keys_of_section("Scenario"), ContainerEq(paths(scenario_keys())));
}

TEST(ScenarioPage, ExplainsEveryKeyOfAMachineAndNoOthers) {
  EXPECT_THAT(keys_of_section("Machine"), ContainerEq(paths(machine_keys())));
}

TEST(ScenarioPage, ListsEveryKindOfProbeOfWhichAMachineHasCurves) {
  std::ifstream stream(std::string(RINGSIDE_SOURCE_DIR) + "/docs/scenario.md");
  const std::string page{std::istreambuf_iterator<char>(stream), {}};
  for (const ProbeKindRow& row : probe_kinds()) {
    if (row.curve) {
      EXPECT_THAT(page, HasSubstr(fmt::format("| {} | {} |\n", name(row.kind), row.measures)));
    }
  }
}

TEST(PlanningPage, ExplainsEveryKeyOfAWorkloadAndNoOthers) {
  EXPECT_THAT(keys_of_section("Workload", "planning.md"), ContainerEq(paths(workload_keys())));
}

TEST(PlanningPage, ExplainsEveryKeyOfAPlanAndNoOthers) {
  EXPECT_THAT(keys_of_section("Plan", "planning.md"), ContainerEq(paths(plan_keys())));
}

}  // namespace
}  // namespace ringside
