#include "scenario/money.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace ringside {

std::optional<Money> parse_money(std::string_view text) {
  Money money;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), money.amount);
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
  const bool currency =
      unit.size() == 3 && std::all_of(unit.begin(), unit.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  if (status != std::errc{} || !currency || !std::isfinite(money.amount) || money.amount < 0) {
    return std::nullopt;
  }
  money.currency = unit;
  return money;
}

}  // namespace ringside
