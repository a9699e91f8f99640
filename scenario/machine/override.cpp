#include "scenario/machine/override.hpp"

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include <yaml-cpp/yaml.h>

#include "scenario/machine/machine_file.hpp"
#include "scenario/scenario.hpp"
#include "scenario/yaml/document.hpp"
#include "scenario/yaml/reader.hpp"

namespace ringside {
namespace {

/// The maps of a machine that a key without a dot is looked for in, nearest first.
constexpr std::array<std::string_view, 4> kMaps = {"intra", "inter", "calibrated", "software"};

/// Keys that stand at the top of a machine file.
constexpr std::array<std::string_view, 4> kTopLevel = {"nodes", "gpus_per_node", "ring_order", "known"};

std::string map_of(const YAML::Node& root, std::string_view key) {
  for (const std::string_view top : kTopLevel) {
    if (top == key) {
      return {};
    }
  }
  for (const std::string_view map : kMaps) {
    const YAML::Node node = root[std::string(map)];
    if (node.IsDefined() && node.IsMap() && node[std::string(key)].IsDefined()) {
      return std::string(map);
    }
  }
  // Not there yet: `intra` answers, if only with the nearest key that it knows.
  return root["intra"].IsDefined() ? "intra" : "";
}

}  // namespace

Machine with_value(const Machine& machine, const KeyOverride& override) {
  const std::string_view key = override.key;
  YAML::Node root = YAML::Load(to_yaml(machine));
  const std::size_t dot = key.find('.');
  const std::string map = dot == std::string_view::npos ? map_of(root, key) : std::string(key.substr(0, dot));
  const std::string leaf(dot == std::string_view::npos ? key : key.substr(dot + 1));
  const YAML::Node parsed = parse_value(override.value, override.origin);
  if (map.empty()) {
    root[leaf] = parsed;
  } else {
    root[map][leaf] = parsed;
  }
  YAML::Emitter out;
  out << root;
  std::vector<Problem> problems;
  std::optional<Machine> changed;
  if (const auto document = parse_document(override.origin, out.c_str(), problems)) {
    Reader reader(*document, problems);
    changed = read_machine(reader, reader.root(), machine.name);
  }
  if (!changed) {
    report(problems, override.key, override.origin);
    for (Problem& problem : problems) {
      problem.position = {};  // The position is one in a text that the user has never seen.
    }
    throw_problems(std::move(problems));
  }
  changed->origin = machine.origin;
  return std::move(*changed);
}

}  // namespace ringside
