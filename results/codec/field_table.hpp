#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "results/codec/codec.hpp"
#include "results/codec/fields.hpp"

/// A record is a table with one row per field: its name, the member that holds it, its unit and what it
/// means. Writing JSON, reading it, the tables of docs/results.md and the lines between ranks follow from the
/// rows, so that they cannot differ. To add a field to a record, add the member and its row.
namespace ringside {

/// One row: a member of T.
template <typename T>
struct Field {
  const char* key;
  const char* unit;
  const char* meaning;
  const char* former_key = nullptr;  ///< That older results use; none otherwise.
  bool required = false;             ///< Reading it fails where it is absent.
  Minimum minimum = {};
  std::function<bool(const T&)> applies = {};  ///< Whether there is such a field, given the fields before it.
  std::function<bool(const T&)> given;         ///< Whether there is something to write.
  std::function<void(JsonWriter& to, const T&)> write;
  std::function<void(const JsonPlace& from, Minimum minimum, T&)> read;
  std::function<std::vector<FieldDescription>()> below;

  /// The same row for numbers from `least` on.
  Field from(std::int64_t least) const {
    Field field = *this;
    field.minimum = least;
    return field;
  }
  /// The same row, also read from the name that older results use.
  Field formerly(const char* former) const {
    Field field = *this;
    field.former_key = former;
    return field;
  }
};

template <typename T>
using Fields = std::vector<Field<T>>;

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

template <typename T, typename M>
Field<T> field(const char* key, M T::*member, const char* unit, const char* meaning) {
  return {.key = key,
          .unit = unit,
          .meaning = meaning,
          .given = [](const T&) { return true; },
          .write = [member](JsonWriter& to, const T& source) { Codec<M>::write(to, source.*member); },
          .read = [member](const JsonPlace& from, Minimum minimum,
                           T& target) { target.*member = Codec<M>::read(from, minimum); },
          .below = [] { return Codec<M>::below(); }};
}

/// A field that every record has.
template <typename T, typename M>
Field<T> required(const char* key, M T::*member, const char* unit = "", const char* meaning = "") {
  Field<T> result = field(key, member, unit, meaning);
  result.required = true;
  return result;
}

/// A field that is always written; where it is absent it keeps its default value.
template <typename T, typename M>
Field<T> always(const char* key, M T::*member, const char* unit = "", const char* meaning = "") {
  return field(key, member, unit, meaning);
}

/// A field that is omitted where it has its default value.
template <typename T, typename M>
Field<T> optional(const char* key, M T::*member, const char* unit = "", const char* meaning = "") {
  Field<T> result = field(key, member, unit, meaning);
  result.given = [member, absent = T{}.*member](const T& source) { return !(source.*member == absent); };
  return result;
}
template <typename T, typename M>
Field<T> optional(const char* key, std::optional<M> T::*member, const char* unit = "",
                  const char* meaning = "") {
  Field<T> result = field(key, member, unit, meaning);
  result.given = [member](const T& source) { return (source.*member).has_value(); };
  return result;
}

/// The fields of the struct that `member` holds, among those of T instead of in an object of their own.
template <typename T, typename M>
Fields<T> inlined(M T::*member) {
  Fields<T> result;
  for (const Field<M>& inner : field_table<M>().fields) {
    result.push_back(
        {.key = inner.key,
         .unit = inner.unit,
         .meaning = inner.meaning,
         .former_key = inner.former_key,
         .required = inner.required,
         .minimum = inner.minimum,
         .given = [member, &inner](const T& source) { return inner.given(source.*member); },
         .write = [member, &inner](JsonWriter& to, const T& source) { inner.write(to, source.*member); },
         .read = [member, &inner](const JsonPlace& from, Minimum minimum,
                                  T& target) { inner.read(from, minimum, target.*member); },
         .below = inner.below});
  }
  return result;
}
/// The same of a struct that is there when its first field is.
template <typename T, typename M>
Fields<T> inlined(std::optional<M> T::*member) {
  Fields<T> result;
  for (const Field<M>& inner : field_table<M>().fields) {
    const bool is_first = result.empty();
    result.push_back(
        {.key = inner.key,
         .unit = inner.unit,
         .meaning = inner.meaning,
         .former_key = inner.former_key,
         .required = inner.required && !is_first,
         .minimum = inner.minimum,
         .given = [member,
                   &inner](const T& source) { return source.*member && inner.given(*(source.*member)); },
         .write = [member, &inner](JsonWriter& to, const T& source) { inner.write(to, *(source.*member)); },
         .read =
             [member, &inner](const JsonPlace& from, Minimum minimum, T& target) {
               if (!(target.*member)) {
                 (target.*member).emplace();
               }
               inner.read(from, minimum, *(target.*member));
             },
         .below = inner.below});
    if (!is_first) {
      result.back().applies = [member](const T& target) { return (target.*member).has_value(); };
    }
  }
  return result;
}

template <typename T>
void append(Fields<T>& fields, const Field<T>& one) {
  fields.push_back(one);
}
template <typename T>
void append(Fields<T>& fields, const Fields<T>& several) {
  fields.insert(fields.end(), several.begin(), several.end());
}

/// Rows from single ones and from what inlined() and only_if() give.
template <typename T, typename... Parts>
Fields<T> fields(const Parts&... parts) {
  Fields<T> result;
  (append<T>(result, parts), ...);
  return result;
}

/// Rows that there are only where `condition` holds for the fields that every record of the kind has.
template <typename T>
Fields<T> only_if(const std::function<bool(const T&)>& condition, Fields<T> rows) {
  for (Field<T>& row : rows) {
    row.applies = [condition, before = row.applies](const T& record) {
      return condition(record) && (!before || before(record));
    };
  }
  return rows;
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
    if (!member && field.former_key != nullptr) {
      member = object.member(field.former_key);
    }
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

/// Every field, each followed by those inside it.
template <typename T>
std::vector<FieldDescription> descriptions(const Fields<T>& fields) {
  std::vector<FieldDescription> result;
  for (const Field<T>& field : fields) {
    result.push_back({.path = field.key, .unit = field.unit, .meaning = field.meaning});
    for (FieldDescription inner : field.below()) {
      inner.path = std::string(field.key) + "." + inner.path;
      if (inner.unit.empty()) {
        inner.unit = field.unit;
      }
      result.push_back(std::move(inner));
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
std::vector<FieldDescription> Codec<V>::below() {
  return descriptions(field_table<V>().fields);
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

/// A record as the list of its values: for records that come in thousands.
template <typename V>
struct ListCodec {
  static void write(JsonWriter& to, const V& value) {
    to.begin('[');
    for (const Field<V>& field : field_table<V>().fields) {
      field.write(to.element(), value);
    }
    to.end(']');
  }
  static V read(const JsonPlace& from) {
    const Fields<V>& fields = field_table<V>().fields;
    const std::vector<JsonPlace> elements = from.elements();
    if (elements.size() != fields.size()) {
      from.reject("has another number of values");
    }
    V result{};
    for (std::size_t index = 0; index < fields.size(); ++index) {
      fields[index].read(elements[index], fields[index].minimum, result);
    }
    return result;
  }
};

}  // namespace ringside
