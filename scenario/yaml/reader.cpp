#include "scenario/yaml/reader.hpp"

#include <algorithm>

#include <fmt/ranges.h>

#include "common/mapped.hpp"
#include "common/names.hpp"

namespace ringside {
namespace {

constexpr std::size_t kMaxScalar = 200;
constexpr std::size_t kMaxQuoted = 60;

std::string joined(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

/// The word under `kind`, if the map says one that its `kind` allows.
std::optional<std::string> kind_of(const YAML::Node& map, std::span<const KeyDescription* const> known) {
  const auto key = std::ranges::find_if(known, [](const KeyDescription* k) { return k->path == "kind"; });
  if (key == known.end()) {
    return std::nullopt;
  }
  for (const auto& entry : map) {
    if (entry.first.IsScalar() && entry.first.Scalar() == "kind" && entry.second.IsScalar() &&
        std::count((*key)->allowed.begin(), (*key)->allowed.end(), entry.second.Scalar()) > 0) {
      return entry.second.Scalar();
    }
  }
  return std::nullopt;
}

bool belongs(const KeyDescription& key, const std::optional<std::string>& kind) {
  return key.kinds.empty() || !kind || std::ranges::count(key.kinds, *kind) > 0;
}

/// Without a kind nobody knows which of the kinds' keys are required.
bool is_required(const KeyDescription& key, const std::optional<std::string>& kind) {
  if (!key.required || key.kinds.empty()) {
    return key.required;
  }
  const std::vector<std::string>& by = key.required_by.empty() ? key.kinds : key.required_by;
  return kind && std::ranges::count(by, *kind) > 0;
}

}  // namespace

std::string_view shape(const YAML::Node& node) {
  return node.IsMap() ? "a map" : node.IsSequence() ? "a list" : node.IsNull() ? "empty" : "a single value";
}

std::string in_quotes(std::string_view text) {
  if (text.size() <= kMaxQuoted) {
    return fmt::format("'{}'", text);
  }
  // Not in the middle of a character.
  std::size_t end = kMaxQuoted;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80) {
    --end;
  }
  return fmt::format("'{}…'", text.substr(0, end));
}

Reader::Reader(const Document& document, std::vector<Problem>& problems, std::vector<std::string> algorithms)
    : document_(document), problems_(problems), algorithms_(std::move(algorithms)) {}

Value Reader::root() const {
  return {.node = document_.root(), .key = {}, .position = document_.position(document_.root().Mark())};
}

std::vector<Value> Reader::items(const Value& list) const {
  return mapped(list.node, [&](const YAML::Node& node) {
    return Value{.node = node, .key = list.key, .position = document_.position(node.Mark())};
  });
}

Value Reader::at(const Value& map, const YAML::Node& key, const YAML::Node& value) const {
  // An absent value has no place of its own, nor has a map that was put together of two.
  const YAML::Mark mark = value.IsNull() || value.Mark().is_null() ? key.Mark() : value.Mark();
  return {.node = value, .key = joined(map.key, key.Scalar()), .position = document_.position(mark)};
}

std::optional<Value> Reader::find(const Value& map, std::string_view key) const {
  if (map.node.IsMap()) {
    for (const auto& entry : map.node) {
      if (entry.first.IsScalar() && entry.first.Scalar() == key) {
        return at(map, entry.first, entry.second);
      }
    }
  }
  return std::nullopt;
}

void Reader::fail(const Value& value, std::string what) {
  problems_.push_back(
      {.file = document_.file(), .position = value.position, .key = value.key, .what = std::move(what)});
}

std::optional<std::string> Reader::scalar(const Value& value, std::string_view form) {
  if (value.node.IsNull()) {
    fail(value, "has no value; write {}", form);
    return std::nullopt;
  }
  if (!value.node.IsScalar()) {
    fail(value, "is {}; write {}", shape(value.node), form);
    return std::nullopt;
  }
  const std::string& text = value.node.Scalar();
  if (text.size() > kMaxScalar) {
    fail(value, "{} is {} bytes long; write {}", in_quotes(text), text.size(), form);
    return std::nullopt;
  }
  return text;
}

std::optional<std::vector<Reader::Entry>> Reader::entries(const Value& map, std::string_view form,
                                                          std::span<const KeyDescription* const> known) {
  if (!map.node.IsMap()) {
    fail(map, map.node.IsNull() ? fmt::format("has no value; write {}", form)
                                : fmt::format("is {}; write {}", shape(map.node), form));
    return std::nullopt;
  }
  const std::optional<std::string> kind = kind_of(map.node, known);
  std::vector<std::string> legal;
  for (const KeyDescription* key : known) {
    if (belongs(*key, kind)) {
      legal.push_back(key->path);
    }
  }

  std::vector<Entry> result;
  std::vector<std::optional<Position>> seen(known.size());
  for (const auto& entry : map.node) {
    Value key{.node = entry.first, .key = map.key, .position = document_.position(entry.first.Mark())};
    if (!entry.first.IsScalar()) {
      fail(key, "a key is {}; write one of {}", shape(entry.first), fmt::join(legal, ", "));
      continue;
    }
    const std::string& name = entry.first.Scalar();
    key.key = joined(map.key, name.size() <= kMaxQuoted ? name : in_quotes(name));
    const auto found = std::ranges::find_if(known, [&](const KeyDescription* k) { return k->path == name; });
    const auto index = static_cast<std::size_t>(found - known.begin());
    if (name == "<<") {
      fail(key,
           "merge keys are not supported; repeat the keys here, or name the whole map with &name where it "
           "stands "
           "first and write *name in its place elsewhere");
    } else if (found == known.end()) {
      const auto near = nearest_name(name, legal);
      fail(key, "is no key here{} Known: {}", near ? fmt::format("; did you mean '{}'?", *near) : ".",
           fmt::join(legal, ", "));
    } else if (!belongs(**found, kind)) {
      fail(key, "belongs to kind {}, not to {}; {} takes {}", fmt::join((*found)->kinds, ", "), *kind, *kind,
           fmt::join(legal, ", "));
    } else if (seen[index]) {
      fail(key, "is given twice; the first is in line {}", seen[index]->line);
    } else {
      seen[index] = key.position;
      result.push_back({.key = index, .value = at(map, entry.first, entry.second)});
    }
  }
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (is_required(*known[i], kind) && !seen[i]) {
      Value missing = map;
      missing.key = joined(map.key, known[i]->path);
      fail(missing, "is missing; write {}", known[i]->form);
    }
  }
  return result;
}

}  // namespace ringside
