#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "common/failures.hpp"
#include "common/interval.hpp"
#include "common/names.hpp"
#include "common/units.hpp"
#include "scenario/yaml/keys.hpp"
#include "scenario/yaml/reader.hpp"

/// How one kind of value is read from YAML, written back, and described.
namespace ringside {

template <typename V>
struct ValueType {
  using Type = V;
  std::string form;                        ///< "a time such as `10 us`"
  std::vector<std::string> allowed = {};   ///< Words of a closed set.
  std::vector<KeyDescription> below = {};  ///< Keys of a map, relative to it.
  /// Nothing after a problem was added to the reader.
  std::function<std::optional<V>(Reader&, const Value&)> read;
  std::function<void(YAML::Emitter&, const V&)> write;
};

/// A single value. `parse` throws Error with what is wrong with the text, as bad_input() has it.
template <typename V>
ValueType<V> scalar_type(const std::string& form, const std::function<V(const std::string&)>& parse,
                         const std::function<void(YAML::Emitter&, const V&)>& write = {}) {
  return {.form = form,
          .read = [form, parse](Reader& reader, const Value& value) -> std::optional<V> {
            const auto text = reader.scalar(value, form);
            if (!text) {
              return std::nullopt;
            }
            try {
              return parse(*text);
            } catch (const Error& error) {
              reader.fail(value, error.what());
              return std::nullopt;
            }
          },
          .write = write};
}

/// The values of `type` in which `fault` finds nothing: it says what is wrong with one, or is empty.
template <typename V, typename Fault>
ValueType<V> narrowed(ValueType<V> type, Fault fault) {
  type.read = [any = std::move(type.read), fault](Reader& reader, const Value& value) -> std::optional<V> {
    auto read = any(reader, value);
    if (const std::string what = read ? fault(value, *read) : std::string(); !what.empty()) {
      reader.fail(value, what);
      return std::nullopt;
    }
    return read;
  };
  return type;
}

struct WholeRange {
  std::int64_t min = 0;
  std::int64_t max = 0;
};

enum class Zero { allowed, refused };

ValueType<std::string> text_type(const std::string& form);
ValueType<bool> bool_type();
ValueType<int> whole_number_type(WholeRange range);
/// A plain number from `min` to `max`.
ValueType<double> factor_type(double min, double max = 1e9);
ValueType<Bytes> size_type();
ValueType<Seconds> time_type(Zero zero = Zero::allowed);
ValueType<BytesPerSecond> bandwidth_type(Zero zero = Zero::refused);
ValueType<SecondsPerByte> cost_type();
/// One of a closed set of words; `what` is what messages call it.
ValueType<std::string> word_type(const std::string& what, const std::vector<std::string>& words);

/// Both ends of an interval of this quantity: `[9.8 us, 10.4 us]`; the typical value is said by another key.
template <typename Q>
ValueType<Interval<double>> interval_type(const ValueType<Q>& quantity, const std::string& example);

/// Words that stand for values.
template <typename E>
ValueType<E> choice_type(const std::string& what, std::vector<E> values) {
  std::vector<std::string> words;
  words.reserve(values.size());
  for (const E value : values) {
    words.emplace_back(name(value));
  }
  const ValueType<std::string> word = word_type(what, words);
  return {.form = word.form,
          .allowed = words,
          .read = [word, values](Reader& reader, const Value& value) -> std::optional<E> {
            const auto text = word.read(reader, value);
            for (const E candidate : values) {
              if (text && name(candidate) == *text) {
                return candidate;
              }
            }
            return std::nullopt;
          },
          .write = [word](YAML::Emitter& out, const E& value) { word.write(out, std::string(name(value))); }};
}

/// Every value of a set that has spellings.
template <typename E>
ValueType<E> choice_type(const std::string& what) {
  std::vector<E> values;
  for (const std::string& word : names_of<E>()) {
    values.push_back(*parse_name<E>(word));
  }
  return choice_type(what, std::move(values));
}

struct ListShape {
  std::string form;             ///< "a list of ranks such as `[0, 2, 1]`"
  bool single_allowed = false;  ///< A single value stands for a list of one.
  bool distinct = false;        ///< An entry that stands twice is a problem.
  bool on_one_line = false;     ///< How it is written.
  std::size_t max_items = SIZE_MAX;
};

/// An item of a list and where it stands, for what can only be judged later.
template <typename V>
struct Placed {
  V value;
  Value place;
};

/// The items that could be read; nothing when the value is no list or an item was refused.
template <typename V>
std::optional<std::vector<Placed<V>>> read_list(Reader& reader, const Value& value, const ValueType<V>& item,
                                                const ListShape& shape_of_list) {
  std::vector<Value> items;
  if (value.node.IsSequence()) {
    items = reader.items(value);
    if (items.empty()) {
      reader.fail(value, "is an empty list; write {}", shape_of_list.form);
      return std::nullopt;
    }
    if (items.size() > shape_of_list.max_items) {
      reader.fail(value, "has {} entries; at most {} are allowed", items.size(), shape_of_list.max_items);
      return std::nullopt;
    }
  } else if (shape_of_list.single_allowed && value.node.IsScalar()) {
    items = {value};
  } else {
    reader.fail(value, value.node.IsNull()
                           ? fmt::format("has no value; write {}", shape_of_list.form)
                           : fmt::format("is {}; write {}", shape(value.node), shape_of_list.form));
    return std::nullopt;
  }
  const std::size_t before = reader.num_problems();
  std::vector<Placed<V>> result;
  for (const Value& place : items) {
    if (auto read = item.read(reader, place)) {
      result.push_back({.value = std::move(*read), .place = place});
    }
  }
  if constexpr (requires(const V& a, const V& b) { a < b; }) {
    std::set<V> seen;
    for (const Placed<V>& placed : result) {
      if (shape_of_list.distinct && !seen.insert(placed.value).second) {
        reader.fail(placed.place, "{} stands twice in the list", in_quotes(placed.place.node.Scalar()));
      }
    }
  }
  if (reader.num_problems() != before) {
    return std::nullopt;
  }
  return result;
}

template <typename V>
ValueType<std::vector<V>> list_type(const ValueType<V>& item, const ListShape& shape_of_list) {
  return {.form = shape_of_list.form,
          .allowed = item.allowed,
          .below = item.below,
          .read = [item, shape_of_list](Reader& reader, const Value& value) -> std::optional<std::vector<V>> {
            auto placed = read_list(reader, value, item, shape_of_list);
            if (!placed) {
              return std::nullopt;
            }
            std::vector<V> values;
            for (Placed<V>& one : *placed) {
              values.push_back(std::move(one.value));
            }
            return values;
          },
          .write =
              [item, shape_of_list](YAML::Emitter& out, const std::vector<V>& values) {
                out << (shape_of_list.on_one_line ? YAML::Flow : YAML::Block) << YAML::BeginSeq;
                for (const V& value : values) {
                  item.write(out, value);
                }
                out << YAML::EndSeq;
              }};
}

}  // namespace ringside
