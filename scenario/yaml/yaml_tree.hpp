#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// YAML as plain data, for files of the program itself. People's files: map_table.hpp.
namespace ringside {

struct YamlTree {
  std::string text = {};  ///< Text of a scalar.
  std::vector<YamlTree> list = {};
  std::vector<std::pair<std::string, YamlTree>> map = {};

  /// The value of a key. Throws Error{bad_input} that names a missing one.
  const YamlTree& at(std::string_view key) const;
  /// Throws Error{bad_input} when the text is no finite number.
  double number() const;
  std::vector<double> numbers() const;
};

/// Throws Error{bad_input} naming `origin` and the line.
YamlTree parse_yaml_tree(const std::string& yaml, const std::string& origin);

}  // namespace ringside
