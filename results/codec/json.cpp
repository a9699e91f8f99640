// How plain values of field tables are written and read: the one place where records meet the JSON library.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/failures.hpp"
#include "results/codec/field_table.hpp"

namespace ringside {
namespace {
constexpr std::string_view kNumber = "must be a number";
}  // namespace

// ---- places -----------------------------------------------------------------------------------------------

std::string JsonPlace::path() const {
  std::string above = above_ != nullptr ? above_->path() : "";
  if (key_.empty()) {
    return above;
  }
  return above.empty() ? std::string(key_) : fmt::format("{}.{}", above, key_);
}

void JsonPlace::reject(std::string_view problem) const {
  const std::string where = path();
  throw bad_input("{} {}", where.empty() ? "it" : where, problem);
}

void JsonPlace::reject_value(std::string_view must) const {
  reject(fmt::format("is {}, it {}", value_->dump(-1, ' ', false, Json::error_handler_t::replace), must));
}

std::optional<JsonPlace> JsonPlace::member(std::string_view key) const {
  if (!value_->is_object()) {
    reject("is not a JSON object");
  }
  const auto found = value_->find(key);
  if (found == value_->end() || found->is_null()) {
    return std::nullopt;
  }
  return JsonPlace(this, key, &*found);
}

JsonPlace JsonPlace::required_member(std::string_view key) const {
  const std::optional<JsonPlace> found = member(key);
  if (!found) {
    JsonPlace(this, key, value_).reject("is missing");
  }
  return *found;
}

std::vector<std::pair<std::string, JsonPlace>> JsonPlace::members() const {
  if (!value_->is_object()) {
    reject("is not a JSON object");
  }
  std::vector<std::pair<std::string, JsonPlace>> result;
  for (auto item = value_->begin(); item != value_->end(); ++item) {
    if (!item->is_null()) {
      result.emplace_back(item.key(), JsonPlace(this, item.key(), &*item));
    }
  }
  return result;
}

std::vector<JsonPlace> JsonPlace::elements() const {
  if (!value_->is_array()) {
    reject("must be a list");
  }
  std::vector<JsonPlace> result;
  result.reserve(value_->size());
  for (const Json& element : *value_) {
    result.push_back(JsonPlace(this, {}, &element));
  }
  return result;
}

// ---- text -------------------------------------------------------------------------------------------------

JsonWriter& JsonWriter::member(std::string_view key) {
  element();
  text_.append(1, '"').append(key).append("\":", 2);
  return *this;
}

JsonWriter& JsonWriter::named(std::string_view name) {
  element().add(name);
  text_ += ':';
  return *this;
}

JsonWriter& JsonWriter::element() {
  if (text_.back() != '{' && text_.back() != '[') {
    text_ += ',';
  }
  return *this;
}

void JsonWriter::add(std::string_view text) {
  const bool plain =
      std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
  if (plain) {
    text_.append(1, '"').append(text).append(1, '"');
  } else {
    // Notes may quote foreign programs; a byte that is not UTF-8 must not cost the result.
    text_ += Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
  }
}

void JsonWriter::add(double value) {
  std::array<char, 64> digits = {};  // As dump() writes it, but without a tree and a text of each number.
  text_.append(digits.data(), nlohmann::detail::to_chars(digits.data(), &digits.back(), value));
}

// ---- values -----------------------------------------------------------------------------------------------

void Codec<double>::write(JsonWriter& to, double value) {
  RINGSIDE_CHECK(std::isfinite(value), "a result holds a number that is not finite");
  to.add(value);
}
double Codec<double>::read(const JsonPlace& from, Minimum minimum) {
  if (!from.value().is_number()) {
    from.reject_value(kNumber);
  }
  const auto value = from.value().get<double>();
  if (minimum && value < static_cast<double>(*minimum)) {
    from.reject_value(fmt::format("must be a number from {} on", *minimum));
  }
  return value;
}

Seconds Codec<Seconds>::read(const JsonPlace& from, Minimum /*minimum*/) {
  const double value = Codec<double>::read(from, {});
  if (value < 0) {
    from.reject(fmt::format("is {}, a time cannot be negative", value));
  }
  return {value};
}

template <std::integral Integer>
Integer read_whole(const JsonPlace& from, Minimum minimum) {
  const Json& json = from.value();
  std::optional<Integer> result;
  if (json.is_number_unsigned()) {
    if (const auto value = json.get<std::uint64_t>(); std::in_range<Integer>(value)) {
      result = static_cast<Integer>(value);
    }
  } else if (json.is_number_integer()) {
    if (const auto value = json.get<std::int64_t>(); std::in_range<Integer>(value)) {
      result = static_cast<Integer>(value);
    }
  } else if (json.is_number()) {
    const double value = json.get<double>();
    const double end = std::ldexp(1.0, std::numeric_limits<Integer>::digits);
    if (std::trunc(value) == value && value >= 0 && value < end) {
      result = static_cast<Integer>(value);
    }
  } else {
    from.reject_value(kNumber);
  }
  if (!result || std::cmp_less(*result, minimum.value_or(0))) {
    from.reject_value(fmt::format("must be a whole number from {} on", minimum.value_or(0)));
  }
  return *result;
}
template std::int32_t read_whole(const JsonPlace&, Minimum);
template std::int64_t read_whole(const JsonPlace&, Minimum);
template std::uint64_t read_whole(const JsonPlace&, Minimum);

bool Codec<bool>::read(const JsonPlace& from, Minimum /*minimum*/) {
  if (!from.value().is_boolean()) {
    from.reject_value("must be true or false");
  }
  return from.value().get<bool>();
}

std::string Codec<std::string>::read(const JsonPlace& from, Minimum /*minimum*/) {
  if (!from.value().is_string()) {
    from.reject_value("must be a text");
  }
  return from.value().get<std::string>();
}

void Codec<std::map<std::string, std::string>>::write(JsonWriter& to,
                                                      const std::map<std::string, std::string>& value) {
  to.begin('{');
  for (const auto& [key, text] : value) {
    to.named(key).add(text);
  }
  to.end('}');
}
std::map<std::string, std::string> Codec<std::map<std::string, std::string>>::read(const JsonPlace& from,
                                                                                   Minimum /*minimum*/) {
  std::map<std::string, std::string> result;
  for (const auto& [key, text] : from.members()) {
    result[key] = Codec<std::string>::read(text, {});
  }
  return result;
}

void reject_name(const JsonPlace& place, std::string_view text, const std::vector<std::string>& known) {
  throw Error(ErrorKind::bad_input, unknown_name(place.path(), text, known));
}

}  // namespace ringside
