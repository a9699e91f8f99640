#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

/// What field tables need of JSON, without the header of the JSON library.
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
  std::optional<JsonPlace> member(const char* key) const;
  JsonPlace required_member(const char* key) const;
  bool is_text() const;
  /// All members that are not null, by name. Throws when this is no object.
  std::vector<std::pair<std::string, JsonPlace>> members() const;
  /// The elements of a list, which complaints call by the list's name.
  std::vector<JsonPlace> elements() const;

  /// Throws Error{bad_input}: "measured.seconds is "fast", it must be a number" for `must be a number`.
  [[noreturn]] void reject_value(std::string_view must) const;
  [[noreturn]] void reject(std::string_view problem) const;
  std::string path() const;

 private:
  JsonPlace(const JsonPlace* above, const char* key, const Json* value)
      : above_(above), key_(key), value_(value) {}

  const JsonPlace* above_ = nullptr;
  const char* key_ = nullptr;  ///< Null: an element, or the top.
  const Json* value_;
};

}  // namespace ringside
