// The JSON Schemas and the loader know the same keys and say the same of them.

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "scenario/keys.hpp"
#include "tests/paths.hpp"

namespace ringside {
namespace {

using nlohmann::json;
using testing::ElementsAreArray;
using testing::StartsWith;
using testing::UnorderedElementsAreArray;

/// A property of a schema and the object that it belongs to.
struct Property {
  json schema;
  json owner;
};

class Schema {
 public:
  explicit Schema(const std::string& file) {
    std::ifstream stream(std::string(RINGSIDE_SOURCE_DIR) + "/configs/" + file);
    root_ = json::parse(stream);
    collect(root_, "");
  }

  const std::map<std::string, Property>& properties() const { return properties_; }

  /// What a property without its own words means: `$ref` within the file.
  json resolved(const json& schema) const {
    const std::string prefix = "#/$defs/";
    const std::string reference = schema.value("$ref", "");
    return reference.starts_with(prefix) ? root_.at("$defs").at(reference.substr(prefix.size())) : schema;
  }

 private:
  /// Maps, lists of maps, and both among other possibilities.
  void collect(const json& unresolved, const std::string& path) {
    const json schema = resolved(unresolved);
    if (schema.contains("items")) {
      collect(schema["items"], path);
    }
    for (const json& unresolved_choice : schema.value("oneOf", json::array())) {
      const json choice = resolved(unresolved_choice);
      const std::string type = choice.value("type", "");
      if (type == "object" || type == "array") {
        collect(choice, path);
      }
    }
    const json properties = schema.value("properties", json::object());
    for (const auto& [key, property] : properties.items()) {
      const std::string below = path.empty() ? key : path + "." + key;
      properties_[below] = {.schema = property, .owner = schema};
      collect(property, below);
    }
  }

  json root_;
  std::map<std::string, Property> properties_;
};

std::string text_of(const json& value) {
  if (value.is_array()) {
    std::vector<std::string> items;
    for (const json& item : value) {
      items.push_back(text_of(item));
    }
    return fmt::format("[{}]", fmt::join(items, ", "));
  }
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::vector<std::string> words_of(const Schema& schema, const json& property) {
  const json meant = schema.resolved(property);
  if (meant.value("type", json()) == "boolean") {
    return {"true", "false"};
  }
  std::vector<std::string> words;
  for (const json& word : meant.value("enum", json::array())) {
    words.push_back(text_of(word));
  }
  return words;
}

std::string leaf(const std::string& path) { return path.substr(path.rfind('.') + 1); }

bool contains(const json& list, const std::string& word) {
  return std::find(list.begin(), list.end(), json(word)) != list.end();
}

/// What an object of this kind must hold and may hold, by the schema's conditions.
struct OfKind {
  std::vector<std::string> legal;
  std::vector<std::string> required;
};

std::map<std::string, OfKind> kinds_of(const json& owner) {
  std::map<std::string, OfKind> kinds;
  for (const json& rule : owner.value("allOf", json::array())) {
    const json condition = rule["if"]["properties"];
    if (condition.size() == 1 && condition.contains("kind")) {
      const json& then = rule["then"];
      kinds[condition["kind"]["const"]] = {.legal = then["propertyNames"]["enum"],
                                           .required = then.value("required", std::vector<std::string>{})};
    }
  }
  return kinds;
}

struct Case {
  std::string file;
  std::vector<KeyDescription> keys;
};

void PrintTo(const Case& value, std::ostream* out) { *out << value.file; }

class Schemas : public testing::TestWithParam<Case> {};

TEST_P(Schemas, HoldTheKeysOfTheLoaderAndNoOthers) {
  std::vector<std::string> of_loader;
  for (const KeyDescription& key : GetParam().keys) {
    of_loader.push_back(key.path);
  }
  std::vector<std::string> of_schema;
  const Schema schema(GetParam().file);
  for (const auto& [path, property] : schema.properties()) {
    of_schema.push_back(path);
  }
  EXPECT_THAT(of_schema, UnorderedElementsAreArray(of_loader));
}

TEST_P(Schemas, SayTheSameOfEveryKey) {
  const Schema schema(GetParam().file);
  for (const KeyDescription& key : GetParam().keys) {
    SCOPED_TRACE(key.path);
    const auto found = schema.properties().find(key.path);
    ASSERT_NE(found, schema.properties().end());
    const json& property = found->second.schema;
    EXPECT_FALSE(property.value("title", "").empty());
    EXPECT_FALSE(property.value("description", "").empty());
    EXPECT_THAT(words_of(schema, property), ElementsAreArray(key.allowed));
    EXPECT_EQ(property.contains("default") ? text_of(property["default"]) : "", key.default_value);
    EXPECT_EQ(contains(found->second.owner.value("required", json::array()), leaf(key.path)),
              key.required && key.kinds.empty());
  }
}

TEST_P(Schemas, RefuseWhatTheyDoNotKnow) {
  const Schema schema(GetParam().file);
  for (const auto& [path, property] : schema.properties()) {
    if (!path.starts_with("known.") || std::count(path.begin(), path.end(), '.') > 1) {
      EXPECT_EQ(property.owner.value("additionalProperties", json(true)), json(false)) << "beside " << path;
    }
  }
}

TEST_P(Schemas, KnowWhichKeysBelongToWhichKind) {
  const Schema schema(GetParam().file);
  for (const KeyDescription& kind : GetParam().keys) {
    if (leaf(kind.path) != "kind") {
      continue;
    }
    const std::string map = kind.path.substr(0, kind.path.rfind('.'));
    const auto kinds = kinds_of(schema.properties().at(kind.path).owner);
    for (const std::string& word : kind.allowed) {
      SCOPED_TRACE(map + " of kind " + word);
      std::vector<std::string> legal;
      std::vector<std::string> required;
      for (const KeyDescription& key : GetParam().keys) {
        const bool here =
            key.path.starts_with(map + ".") && key.path.find('.', map.size() + 1) == std::string::npos;
        const bool listed = std::count(key.kinds.begin(), key.kinds.end(), word) > 0;
        if (here && (key.kinds.empty() || listed)) {
          legal.push_back(leaf(key.path));
        }
        const std::vector<std::string>& by = key.required_by.empty() ? key.kinds : key.required_by;
        if (here && key.required && std::count(by.begin(), by.end(), word) > 0) {
          required.push_back(leaf(key.path));
        }
      }
      ASSERT_EQ(kinds.count(word), 1U);
      EXPECT_THAT(kinds.at(word).legal, UnorderedElementsAreArray(legal));
      EXPECT_THAT(kinds.at(word).required, UnorderedElementsAreArray(required));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Schemas,
                         testing::Values(Case{"scenario.schema.json", scenario_keys()},
                                         Case{"machine.schema.json", machine_keys()},
                                         Case{"workload.schema.json", workload_keys()},
                                         Case{"plan.schema.json", plan_keys()}),
                         [](const testing::TestParamInfo<Case>& tested) {
                           return tested.param.file.substr(0, tested.param.file.find('.'));
                         });

}  // namespace
}  // namespace ringside
