#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <utility>

namespace ringside {

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

}  // namespace ringside
