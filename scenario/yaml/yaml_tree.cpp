#include "scenario/yaml/yaml_tree.hpp"

#include <algorithm>

#include <yaml-cpp/yaml.h>

#include "common/failures.hpp"
#include "common/mapped.hpp"
#include "common/numbers.hpp"

namespace ringside {

namespace {

YamlTree tree_of(const YAML::Node& node) {
  YamlTree tree;
  if (node.IsScalar()) {
    tree.text = node.Scalar();
  } else if (node.IsSequence()) {
    for (const YAML::Node& element : node) {
      tree.list.push_back(tree_of(element));
    }
  } else if (node.IsMap()) {
    for (const auto& entry : node) {
      tree.map.emplace_back(entry.first.Scalar(), tree_of(entry.second));
    }
  }
  return tree;
}

}  // namespace

const YamlTree& YamlTree::at(std::string_view key) const {
  const auto found = std::ranges::find_if(map, [&](const auto& entry) { return entry.first == key; });
  if (found == map.end()) {
    throw bad_input("the key {} is missing", key);
  }
  return found->second;
}

double YamlTree::number() const {
  const std::optional<double> value = parse_number<double>(text);
  if (!value) {
    throw bad_input("'{}' is no number", text);
  }
  return *value;
}

std::vector<double> YamlTree::numbers() const {
  return mapped(list, [](const YamlTree& element) { return element.number(); });
}

YamlTree parse_yaml_tree(const std::string& yaml, const std::string& origin) {
  try {
    return tree_of(YAML::Load(yaml));
  } catch (const YAML::Exception& error) {
    throw bad_input("{}:{}: {}", origin, error.mark.line + 1, error.msg);
  }
}

}  // namespace ringside
