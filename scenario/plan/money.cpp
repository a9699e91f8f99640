#include "scenario/plan/money.hpp"

#include <algorithm>
#include <cmath>

#include "common/numbers.hpp"

namespace ringside {

std::optional<Money> parse_money(std::string_view text) {
  std::string_view unit = text;
  const std::optional<double> amount = take_number<double>(unit);
  unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
  const bool currency =
      unit.size() == 3 && std::all_of(unit.begin(), unit.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  if (!amount || !currency || !std::isfinite(*amount) || *amount < 0) {
    return std::nullopt;
  }
  return Money{.amount = *amount, .currency = std::string(unit)};
}

}  // namespace ringside
