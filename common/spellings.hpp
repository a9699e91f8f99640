#pragma once

#include <string_view>
#include <utility>

#include "common/error.hpp"
#include "common/names.hpp"

/// For the .cpp that spells the values of a closed set: it specialises Spellings, defines name() by spelling_of() and
/// instantiates names_of() and parse_name(). Everybody else includes the header that declares the set.
namespace ringside {

template <typename E>
using Spelling = std::pair<E, std::string_view>;

/// `kTable`: an array of all values with their names.
template <typename E>
struct Spellings;

template <typename E>
std::string_view spelling_of(E value) {
  for (const auto& [known, text] : Spellings<E>::kTable) {
    if (known == value) {
      return text;
    }
  }
  throw_bug("a declared value", __FILE__, __LINE__, "an enum holds a value that has no name");
}

template <typename E>
std::vector<std::string> names_of() {
  std::vector<std::string> result;
  result.reserve(Spellings<E>::kTable.size());
  for (const auto& [value, text] : Spellings<E>::kTable) {
    result.emplace_back(text);
  }
  return result;
}

template <typename E>
std::optional<E> parse_name(std::string_view text) {
  for (const auto& [value, known] : Spellings<E>::kTable) {
    if (known == text) {
      return value;
    }
  }
  return std::nullopt;
}

}  // namespace ringside
