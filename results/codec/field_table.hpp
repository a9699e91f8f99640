#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "common/spellings.hpp"
#include "results/codec/codec.hpp"
#include "results/codec/fields.hpp"

/// A record is a table with one row per field: its name and the member that holds it. Writing JSON, reading
/// it and the lines between ranks follow from the rows, so that they cannot differ. docs/results.md says what
/// each field means. To add a field to a record, add the member and its row.
namespace ringside {

/// One row: a member of T.
template <typename T>
struct Field {
  std::string_view key;
  bool required = false;  ///< Reading it fails where it is absent.
  Minimum minimum = {};
  std::function<bool(const T&)> applies = {};  ///< Whether there is such a field, given the fields before it.
  std::function<bool(const T&)> given;         ///< Whether there is something to write.
  std::function<void(JsonWriter& to, const T&)> write;
  std::function<void(const JsonPlace& from, Minimum minimum, T&)> read;
  std::function<std::vector<std::string>()> below;
};

template <typename T>
struct Fields : std::vector<Field<T>> {
  /// The same rows for numbers from `least` on.
  Fields from(std::int64_t least) const {
    Fields rows = *this;
    for (Field<T>& row : rows) {
      row.minimum = least;
    }
    return rows;
  }
};

template <typename T>
struct FieldTable {
  const char* record = nullptr;  ///< Which kind of line it is; none for what only stands inside others.
  Fields<T> fields;
};

template <typename T>
const FieldTable<T>& field_table() {
  static const FieldTable<T> table = table_of(static_cast<const T*>(nullptr));
  return table;
}

/// A field that is always written; where it is absent it keeps its default value.
template <typename T, typename M>
Fields<T> always(std::string_view key, M T::*member) {
  Fields<T> row;
  row.push_back({.key = key,
                 .given = [](const T&) { return true; },
                 .write = [member](JsonWriter& to, const T& source) { Codec<M>::write(to, source.*member); },
                 .read = [member](const JsonPlace& from, Minimum minimum,
                                  T& target) { target.*member = Codec<M>::read(from, minimum); },
                 .below = [] { return Codec<M>::below(); }});
  return row;
}

/// A field that every record has.
template <typename T, typename M>
Fields<T> required(std::string_view key, M T::*member) {
  Fields<T> result = always(key, member);
  result.front().required = true;
  return result;
}

/// A field that is omitted where it has its default value.
template <typename T, typename M>
Fields<T> optional(std::string_view key, M T::*member) {
  Fields<T> result = always(key, member);
  result.front().given = [member, absent = T{}.*member](const T& source) {
    return !(source.*member == absent);
  };
  return result;
}
template <typename T, typename M>
Fields<T> optional(std::string_view key, std::optional<M> T::*member) {
  Fields<T> result = always(key, member);
  result.front().given = [member](const T& source) { return (source.*member).has_value(); };
  return result;
}

template <typename T, typename... More>
Fields<T> joined(Fields<T> rows, const More&... more) {
  (rows.insert(rows.end(), more.begin(), more.end()), ...);
  return rows;
}

/// The struct in a member, which may be optional: null where there is none; and one that is made there.
template <typename M>
const M* held_in(const M& member) {
  return &member;
}
template <typename M>
const M* held_in(const std::optional<M>& member) {
  return member ? &*member : nullptr;
}
template <typename M>
M& made_in(M& member) {
  return member;
}
template <typename M>
M& made_in(std::optional<M>& member) {
  return member ? *member : member.emplace();
}

/// The fields of the struct that `member` holds, among those of T instead of in an object of their own. An
/// optional one is there when its first field is.
template <typename T, typename M>
Fields<T> inlined(M T::*member) {
  using Inner = std::remove_reference_t<decltype(made_in(std::declval<M&>()))>;
  constexpr bool kOptional = !std::is_same_v<M, Inner>;
  Fields<T> result;
  for (const Field<Inner>& inner : field_table<Inner>().fields) {
    const bool makes = kOptional && result.empty();
    result.push_back(
        {.key = inner.key,
         .required = inner.required && !makes,
         .minimum = inner.minimum,
         .given =
             [member, &inner](const T& source) {
               const Inner* held = held_in(source.*member);
               return held != nullptr && inner.given(*held);
             },
         .write = [member, &inner](JsonWriter& to,
                                   const T& source) { inner.write(to, *held_in(source.*member)); },
         .read = [member, &inner](const JsonPlace& from, Minimum minimum,
                                  T& target) { inner.read(from, minimum, made_in(target.*member)); },
         .below = inner.below});
    if (kOptional && !makes) {
      result.back().applies = [member](const T& target) { return held_in(target.*member) != nullptr; };
    }
  }
  return result;
}

// Fields that are called as their members are; several of one class are several rows.
template <auto... kMembers>
auto always() {
  return joined(always(declared_name<kMembers>(), kMembers)...);
}
template <auto... kMembers>
auto required() {
  return joined(required(declared_name<kMembers>(), kMembers)...);
}
template <auto... kMembers>
auto optional() {
  return joined(optional(declared_name<kMembers>(), kMembers)...);
}

/// A line of its own, of this kind.
template <typename T, typename... More>
FieldTable<T> tagged(const char* record, const Fields<T>& first, const More&... more) {
  return {.record = record, .fields = joined(first, more...)};
}
/// The same for what only stands inside others.
template <typename... Parts>
auto fields(const Parts&... parts) {
  return tagged(nullptr, parts...);
}

/// Rows that there are only where `condition` holds for the fields that every record of the kind has.
template <typename T, typename Condition>
Fields<T> only_if(const Condition& condition, FieldTable<T> table) {
  for (Field<T>& row : table.fields) {
    row.applies = [condition, before = row.applies](const T& record) {
      return condition(record) && (!before || before(record));
    };
  }
  return table.fields;
}

template <typename T>
void write_fields(JsonWriter& object, const T& source, const Fields<T>& fields) {
  for (const Field<T>& field : fields) {
    if ((!field.applies || field.applies(source)) && field.given(source)) {
      field.write(object.member(field.key), source);
    }
  }
}

/// What the object has beside the fields is skipped.
template <typename T>
T read_fields(const JsonPlace& object, const Fields<T>& fields) {
  T result{};
  const auto read = [&](const Field<T>& field) {
    std::optional<JsonPlace> member = object.member(field.key);
    if (!member && field.required) {
      member = object.required_member(field.key);
    }
    if (member) {
      field.read(*member, field.minimum, result);
    }
  };
  // Conditions may look at fields that stand behind their own.
  for (const Field<T>& field : fields) {
    if (!field.applies) {
      read(field);
    }
  }
  for (const Field<T>& field : fields) {
    if (field.applies && field.applies(result)) {
      read(field);
    }
  }
  return result;
}

/// Every field, each followed by those inside it: `measured`, `measured.seconds`.
template <typename T>
std::vector<std::string> paths(const Fields<T>& fields) {
  std::vector<std::string> result;
  for (const Field<T>& field : fields) {
    result.emplace_back(field.key);
    for (const std::string& inner : field.below()) {
      result.push_back(std::string(field.key) + "." + inner);
    }
  }
  return result;
}

template <typename V>
void Codec<V>::write(JsonWriter& to, const V& value) {
  to.begin('{');
  write_fields(to, value, field_table<V>().fields);
  to.end('}');
}
template <typename V>
V Codec<V>::read(const JsonPlace& from, Minimum /*minimum*/) {
  return read_fields(from, field_table<V>().fields);
}
template <typename V>
std::vector<std::string> Codec<V>::below() {
  return paths(field_table<V>().fields);
}

/// `value` as an object that begins with which of a variant's kinds it is: `{"record":"point",…`.
template <typename V>
void write_tagged(JsonWriter& to, const char* tag, const V& value) {
  to.begin('{');
  Codec<std::string>::write(to.member(tag), field_table<V>().record);
  write_fields(to, value, field_table<V>().fields);
  to.end('}');
}

/// The alternative of a variant whose table is called `kind`, if there is one.
template <typename Variant>
struct Tagged;
template <typename... Kinds>
struct Tagged<std::variant<Kinds...>> {
  static std::optional<std::variant<Kinds...>> read(const JsonPlace& place, std::string_view kind) {
    std::optional<std::variant<Kinds...>> result;
    const auto try_one = [&]<typename V>(const FieldTable<V>& table) {
      if (kind == table.record) {
        result = read_fields(place, table.fields);
      }
      return result.has_value();
    };
    static_cast<void>((try_one(field_table<Kinds>()) || ...));
    return result;
  }
};

}  // namespace ringside
