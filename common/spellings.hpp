#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/error.hpp"

/// Closed sets and the names of their values, which people write in files. An enum's values are called as
/// they are declared, one after another from 0; `automatic` is spelt `auto`. Where files have other words,
/// `spellings_of(E)` stands beside the enum: all its values with their names, in the order of declaration.
namespace ringside {

template <typename E>
concept Enum = std::is_enum_v<E>;

template <typename E>
using Spelling = std::pair<E, std::string_view>;

/// A constant as compilers write it: `ringside::DataType::int32`, `(ringside::DataType)6` where the enum
/// declares none, and `&ringside::PointKey::bytes`.
template <auto kValue>
constexpr std::string_view written() {
  // `… [with auto kValue = ringside::DataType::int32; …]`, or `… [kValue = ringside::DataType::int32]`.
  const std::string_view text = __PRETTY_FUNCTION__;
  constexpr std::string_view kBefore = "kValue = ";
  const std::size_t start = text.find(kBefore) + kBefore.size();
  return text.substr(start, text.find_first_of(";]", start) - start);
}

/// `int32` of an enumerator, `bytes` of a pointer to a member.
template <auto kValue>
constexpr std::string_view declared_name() {
  constexpr std::string_view kText = written<kValue>();
  return kText.substr(kText.rfind(':') + 1);
}

template <Enum E, std::size_t kFrom = 0>
constexpr std::size_t num_declared() {
  if constexpr (written<static_cast<E>(kFrom)>().front() == '(') {
    return kFrom;
  } else {
    return num_declared<E, kFrom + 1>();
  }
}

template <auto kValue>
constexpr std::string_view spelt() {
  constexpr std::string_view kName = declared_name<kValue>();
  return kName == "automatic" ? "auto" : kName;  // A keyword of C++.
}

template <typename E, std::size_t... kIndex>
constexpr auto declared_spellings(std::index_sequence<kIndex...> /*any*/) {
  return std::array{Spelling<E>(static_cast<E>(kIndex), spelt<static_cast<E>(kIndex)>())...};
}

/// All values with their names, in the order of declaration.
template <Enum E>
decltype(auto) spellings() {
  if constexpr (requires { spellings_of(E{}); }) {
    return spellings_of(E{});
  } else {
    static constexpr auto kDeclared = declared_spellings<E>(std::make_index_sequence<num_declared<E>()>());
    return (kDeclared);
  }
}

template <Enum E>
std::string_view name(E value) {
  for (const auto& [known, text] : spellings<E>()) {
    if (known == value) {
      return text;
    }
  }
  throw_bug("a declared value", __FILE__, __LINE__, "an enum holds a value that has no name");
}

template <Enum E>
std::vector<std::string> names_of() {
  std::vector<std::string> result;
  for (const auto& [value, text] : spellings<E>()) {
    result.emplace_back(text);
  }
  return result;
}

/// The value spelt `text`, if there is one.
template <Enum E>
std::optional<E> parse_name(std::string_view text) {
  for (const auto& [value, known] : spellings<E>()) {
    if (known == text) {
      return value;
    }
  }
  return std::nullopt;
}

}  // namespace ringside
