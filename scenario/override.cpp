#include "scenario/override.hpp"

#include <array>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "common/error.hpp"
#include "scenario/scenario.hpp"

namespace ringside {
namespace {

/// The maps of a machine that a key without a dot is looked for in, nearest first.
constexpr std::array<std::string_view, 4> kMaps = {"intra", "inter", "calibrated", "software"};

/// Keys that stand at the top of a machine file.
constexpr std::array<std::string_view, 3> kTopLevel = {"nodes", "gpus_per_node", "ring_order"};

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

Machine with_value(const Machine& machine, std::string_view key, const std::string& value) {
  YAML::Node root = YAML::Load(to_yaml(machine));
  const std::size_t dot = key.find('.');
  const std::string map = dot == std::string_view::npos ? map_of(root, key) : std::string(key.substr(0, dot));
  const std::string leaf(dot == std::string_view::npos ? key : key.substr(dot + 1));
  YAML::Node parsed;
  try {
    parsed = YAML::Load(value);
  } catch (const YAML::Exception& problem) {
    throw Error(ErrorKind::bad_input, fmt::format("{}={}: {}", key, value, problem.what()));
  }
  if (map.empty()) {
    root[leaf] = parsed;
  } else {
    root[map][leaf] = parsed;
  }
  YAML::Emitter out;
  out << root;
  return parse_machine(out.c_str(), fmt::format("{} with {}={}", machine.name, key, value));
}

}  // namespace ringside
