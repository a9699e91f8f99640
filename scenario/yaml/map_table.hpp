#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/spellings.hpp"
#include "scenario/yaml/reader.hpp"
#include "scenario/yaml/value_type.hpp"

/// A map of YAML as a table with one row per key: the row reads the key, writes it and describes it, so that
/// the loader, to_yaml() and the description of the format cannot differ.
namespace ringside {

template <typename T>
struct Row {
  KeyDescription key;
  std::vector<KeyDescription> below;  ///< Keys of its own map, or of the maps of its list.
  std::function<void(Reader&, const Value&, T&)> read;
  std::function<bool(const T&)> given;  ///< Whether there is something to write.
  std::function<void(YAML::Emitter&, const T&)> write;
};

template <typename T>
struct MapTable {
  std::string form;  ///< "a map such as `{model: L40S}`"
  std::vector<Row<T>> rows;
  /// What can only be judged across keys; keys with problems are as if they were left out.
  std::function<void(Reader&, const Value&, T&)> check = {};
  bool on_one_line = true;  ///< How it is written.
};

/// What is said of a key beside its name and type.
struct Note {
  bool required = false;
  std::string default_value = {};
  std::vector<std::string> kinds = {};
  std::vector<std::string> required_by = {};
};

template <typename V>
KeyDescription description(const std::string& key, const ValueType<V>& type, const Note& note) {
  return {.path = key,
          .form = type.form,
          .allowed = type.allowed,
          .required = note.required,
          .default_value = note.default_value,
          .kinds = note.kinds,
          .required_by = note.required_by};
}

template <typename M>
struct MemberValue {
  using Type = M;
};
template <typename M>
struct MemberValue<std::optional<M>> {
  using Type = M;
};

template <typename M>
const M& held(const M& member) {
  return member;
}
template <typename M>
const M& held(const std::optional<M>& member) {
  return *member;
}

/// Whether a member says something that leaving it out would not.
template <typename M>
bool says_something(const M& member, const M& default_value) {
  return !(member == default_value);
}
template <typename M>
bool says_something(const std::optional<M>& member, const std::optional<M>& /*default_value*/) {
  return member.has_value();
}

/// A key that is one member of T. What says nothing is not written, unless it is required.
template <typename T, typename M>
Row<T> row(const std::string& key, M T::*member, const ValueType<typename MemberValue<M>::Type>& type,
           const Note& note = {}) {
  // An optional member may be required by some kinds only.
  const bool always = note.required && std::is_same_v<M, typename MemberValue<M>::Type>;
  return {.key = description(key, type, note),
          .below = type.below,
          .read =
              [member, type](Reader& reader, const Value& value, T& target) {
                if (auto read = type.read(reader, value)) {
                  target.*member = std::move(*read);
                }
              },
          .given = [member, always](
                       const T& source) { return always || says_something(source.*member, T{}.*member); },
          .write = [member, type](YAML::Emitter& out,
                                  const T& source) { type.write(out, held(source.*member)); }};
}

template <typename T, typename Owner, typename M>
auto member_of(M Owner::*member) -> M std::conditional_t<std::is_void_v<T>, Owner, T>::* {
  return member;
}
/// The same for a key that is called as its member; of T, where the member's class is a base of it.
template <auto kMember, typename T = void, typename Type>
auto row(const Type& type, const Note& note = {}) {
  return row(std::string(declared_name<kMember>()), member_of<T>(kMember), type, note);
}

/// A key whose value is read when all others are known.
template <typename T>
Row<T> later(const std::string& key, std::optional<Value> T::*member, const std::string& form,
             const Note& note = {}, std::vector<KeyDescription> below = {}) {
  return {.key = description(key, ValueType<Value>{.form = form, .read = {}, .write = {}}, note),
          .below = std::move(below),
          .read = [member](Reader&, const Value& value, T& draft) { draft.*member = value; },
          .given = {},
          .write = {}};
}

template <auto kMember>
auto later(const std::string& form, const Note& note = {}, std::vector<KeyDescription> below = {}) {
  return later(std::string(declared_name<kMember>()), kMember, form, note, std::move(below));
}

/// Nothing after a problem was added.
template <typename T>
std::optional<T> read_map(Reader& reader, const Value& value, const MapTable<T>& table) {
  const std::size_t before = reader.num_problems();
  std::vector<const KeyDescription*> keys;
  for (const Row<T>& row : table.rows) {
    keys.push_back(&row.key);
  }
  const auto entries = reader.entries(value, table.form, keys);
  if (!entries) {
    return std::nullopt;
  }
  T result;
  for (const Reader::Entry& entry : *entries) {
    table.rows[entry.key].read(reader, entry.value, result);
  }
  if (table.check) {
    table.check(reader, value, result);
  }
  if (reader.num_problems() != before) {
    return std::nullopt;
  }
  return result;
}

/// What YAML that is compiled in says. Throws Error{bad_input} with all problems; `file` is for messages.
template <typename T>
T parse_map(const std::string& yaml, const std::string& file, const MapTable<T>& table) {
  std::vector<Problem> problems;
  return *read_whole(parse_document(file, yaml, problems, true), problems,
                     [&](Reader& reader) { return read_map(reader, reader.root(), table); });
}

template <typename T>
void write_map(YAML::Emitter& out, const T& source, const MapTable<T>& table) {
  out << (table.on_one_line ? YAML::Flow : YAML::Block) << YAML::BeginMap;
  for (const Row<T>& row : table.rows) {
    if (row.given(source)) {
      out << YAML::Key << row.key.path << YAML::Value;
      row.write(out, source);
    }
  }
  out << YAML::EndMap;
}

/// Every key of the table, each followed by those below it.
template <typename T>
std::vector<KeyDescription> keys_of(const MapTable<T>& table) {
  std::vector<KeyDescription> result;
  for (const Row<T>& row : table.rows) {
    result.push_back(row.key);
    for (KeyDescription below : row.below) {
      below.path = row.key.path + "." + below.path;
      result.push_back(std::move(below));
    }
  }
  return result;
}

template <typename T>
ValueType<T> map_type(const MapTable<T>& table) {
  // Types are copied into the tables that use them, several times at each level of maps in maps.
  const auto shared = std::make_shared<const MapTable<T>>(table);
  return {.form = table.form,
          .below = keys_of(table),
          .read = [shared](Reader& reader, const Value& value) { return read_map(reader, value, *shared); },
          .write = [shared](YAML::Emitter& out, const T& source) { write_map(out, source, *shared); }};
}

}  // namespace ringside
