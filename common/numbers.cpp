#include "common/numbers.hpp"

#include <charconv>
#include <cstdint>

#include <fmt/format.h>

namespace ringside {

template <typename N>
std::optional<N> take_number(std::string_view& text) {
  N number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc{}) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

template std::optional<int> take_number(std::string_view&);
template std::optional<std::int64_t> take_number(std::string_view&);
template std::optional<double> take_number(std::string_view&);

std::string percent(double fraction, int decimals) {
  const bool small = decimals == 0 && 100 * fraction >= 0.05 && 100 * fraction < 0.95;
  return fmt::format("{:.{}f} %", 100 * fraction, small ? 1 : decimals);
}

std::string signed_percent(double fraction) { return fmt::format("{:+.0f} %", 100 * fraction); }

}  // namespace ringside
