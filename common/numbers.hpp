#pragma once

#include <cmath>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>

/// Numbers in texts: one reader, and one way to write a percentage, for all files and flags.
namespace ringside {

/// Takes the number off the front of `text`; none, and nothing taken, when there is none or it does not fit
/// into N. No spaces, no leading `+`. Instantiated for int, std::int64_t and double.
template <typename N>
std::optional<N> take_number(std::string_view& text);

/// The whole of `text` as a number; none when it is anything else. Only finite floating point.
template <typename N>
std::optional<N> parse_number(std::string_view text) {
  const std::optional<N> number = take_number<N>(text);
  if (!number || !text.empty()) {
    return std::nullopt;
  }
  if constexpr (std::floating_point<N>) {
    if (!std::isfinite(*number)) {
      return std::nullopt;
    }
  }
  return number;
}

/// 0.123 → `12 %`, with one decimal `12.3 %`. Without decimals, less than one per cent has one: `0.4 %`.
std::string percent(double fraction, int decimals = 0);

/// A difference: 0.123 → `+12 %`.
std::string signed_percent(double fraction);

}  // namespace ringside
