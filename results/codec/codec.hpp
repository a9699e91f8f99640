#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "common/names.hpp"
#include "common/units.hpp"

/// How values of fields are written to JSON and read back, without the header of the JSON library.
namespace ringside {

// Fields are written in the order in which people read them.
using Json = nlohmann::ordered_json;

/// A value in a line of JSON that is being read. Complaints begin with the path to it, `measured.seconds`.
/// One that was asked of another refers to that one, which must outlive it.
class JsonPlace {
 public:
  explicit JsonPlace(const Json& top) : value_(&top) {}

  const Json& value() const { return *value_; }
  /// Null is absent. Throws when this is no object.
  std::optional<JsonPlace> member(std::string_view key) const;
  JsonPlace required_member(std::string_view key) const;
  /// All members that are not null, by name. Throws when this is no object.
  std::vector<std::pair<std::string, JsonPlace>> members() const;
  /// The elements of a list, which complaints call by the list's name.
  std::vector<JsonPlace> elements() const;

  /// Throws Error{bad_input}: "measured.seconds is "fast", it must be a number" for `must be a number`.
  [[noreturn]] void reject_value(std::string_view must) const;
  [[noreturn]] void reject(std::string_view problem) const;
  std::string path() const;

 private:
  JsonPlace(const JsonPlace* above, std::string_view key, const Json* value)
      : above_(above), key_(key), value_(value) {}

  const JsonPlace* above_ = nullptr;
  std::string_view key_ = {};  ///< Empty: an element, or the top.
  const Json* value_;
};

/// JSON as text, in the order in which its parts are added: an import makes a million lines of it.
class JsonWriter {
 public:
  JsonWriter() { text_.reserve(256); }  // Most lines are shorter.

  /// `{` or `[`; until end() what follows is in it.
  void begin(char open) { text_ += open; }
  void end(char close) { text_ += close; }
  /// The writer, to add one value: to an object by a key of ours, by any name, or to a list.
  JsonWriter& member(std::string_view key);
  JsonWriter& named(std::string_view name);
  JsonWriter& element();

  void add(std::string_view text);
  void add(double value);
  void add(std::integral auto value) {
    if constexpr (std::same_as<decltype(value), bool>) {
      text_ += value ? "true" : "false";
    } else {
      text_ += std::to_string(value);
    }
  }

  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

/// The smallest value that a field may have; whole numbers without one begin at 0.
using Minimum = std::optional<std::int64_t>;

/// How a type is written and read. What is not below is a struct with a field table.
template <typename V>
struct Codec {
  static void write(JsonWriter& to, const V& value);
  static V read(const JsonPlace& from, Minimum /*minimum*/);
  /// Paths of the fields inside it, as paths() gives them.
  static std::vector<std::string> below();
};

struct PlainCodec {
  static std::vector<std::string> below() { return {}; }
};

// Writing a number that is not finite is a bug of the caller.
template <>
struct Codec<double> : PlainCodec {
  static void write(JsonWriter& to, double value);
  static double read(const JsonPlace& from, Minimum minimum);
};
/// Never negative.
template <>
struct Codec<Seconds> : PlainCodec {
  static void write(JsonWriter& to, Seconds value) { Codec<double>::write(to, value.value); }
  static Seconds read(const JsonPlace& from, Minimum minimum);
};
/// Tools that keep every number as a double write 4 as 4.0; that is still a whole number.
template <std::integral V>
V read_whole(const JsonPlace& from, Minimum minimum);

template <std::integral V>
struct Codec<V> : PlainCodec {
  static void write(JsonWriter& to, V value) { to.add(value); }
  static V read(const JsonPlace& from, Minimum minimum) { return read_whole<V>(from, minimum); }
};
template <>
struct Codec<std::chrono::milliseconds> : PlainCodec {
  static void write(JsonWriter& to, std::chrono::milliseconds value) { to.add(value.count()); }
  static std::chrono::milliseconds read(const JsonPlace& from, Minimum minimum) {
    return std::chrono::milliseconds(read_whole<std::int64_t>(from, minimum));
  }
};
template <>
struct Codec<Bytes> : PlainCodec {
  static void write(JsonWriter& to, Bytes value) { Codec<std::int64_t>::write(to, value.value); }
  static Bytes read(const JsonPlace& from, Minimum minimum) {
    return {Codec<std::int64_t>::read(from, minimum)};
  }
};
template <>
struct Codec<bool> : PlainCodec {
  static void write(JsonWriter& to, bool value) { to.add(value); }
  static bool read(const JsonPlace& from, Minimum minimum);
};
template <>
struct Codec<std::string> : PlainCodec {
  static void write(JsonWriter& to, std::string_view value) { to.add(value); }
  static std::string read(const JsonPlace& from, Minimum minimum);
};
template <>
struct Codec<std::map<std::string, std::string>> : PlainCodec {
  static void write(JsonWriter& to, const std::map<std::string, std::string>& value);
  static std::map<std::string, std::string> read(const JsonPlace& from, Minimum minimum);
};

[[noreturn]] void reject_name(const JsonPlace& place, std::string_view text,
                              const std::vector<std::string>& known);

/// A closed set, by the names of its values.
template <typename E>
requires std::is_enum_v<E>
struct Codec<E> : PlainCodec {
  static void write(JsonWriter& to, E value) { Codec<std::string>::write(to, name(value)); }
  static E read(const JsonPlace& from, Minimum minimum) {
    const std::string text = Codec<std::string>::read(from, minimum);
    const std::optional<E> known = parse_name<E>(text);
    if (!known) {
      reject_name(from, text, names_of<E>());
    }
    return *known;
  }
};

template <typename V>
struct Codec<std::optional<V>> {
  static void write(JsonWriter& to, const std::optional<V>& value) { Codec<V>::write(to, *value); }
  static std::optional<V> read(const JsonPlace& from, Minimum minimum) {
    return Codec<V>::read(from, minimum);
  }
  static std::vector<std::string> below() { return Codec<V>::below(); }
};

template <typename V>
struct Codec<std::vector<V>> {
  static void write(JsonWriter& to, const std::vector<V>& values) {
    to.begin('[');
    for (const V& value : values) {
      Codec<V>::write(to.element(), value);
    }
    to.end(']');
  }
  static std::vector<V> read(const JsonPlace& from, Minimum minimum) {
    std::vector<V> values;
    for (const JsonPlace& element : from.elements()) {
      values.push_back(Codec<V>::read(element, minimum));
    }
    return values;
  }
  static std::vector<std::string> below() { return Codec<V>::below(); }
};

}  // namespace ringside
