#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/error.hpp"

/// Closed sets and the names of their values. Beside an enum stands `spellings_of(E)`: all its values with
/// their names, in the order of declaration. The rest follows from it.
namespace ringside {

template <typename E>
using Spelling = std::pair<E, std::string_view>;

template <typename E>
concept Spelt = requires(E value) {
  spellings_of(value);
};

template <Spelt E>
std::string_view name(E value) {
  for (const auto& [known, text] : spellings_of(value)) {
    if (known == value) {
      return text;
    }
  }
  throw_bug("a declared value", __FILE__, __LINE__, "an enum holds a value that has no name");
}

template <Spelt E>
std::vector<std::string> names_of() {
  std::vector<std::string> result;
  for (const auto& [value, text] : spellings_of(E{})) {
    result.emplace_back(text);
  }
  return result;
}

/// The value spelt `text`, if there is one.
template <Spelt E>
std::optional<E> parse_name(std::string_view text) {
  for (const auto& [value, known] : spellings_of(E{})) {
    if (known == text) {
      return value;
    }
  }
  return std::nullopt;
}

}  // namespace ringside
