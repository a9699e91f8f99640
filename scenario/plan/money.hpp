#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ringside {

/// Finite and not negative.
struct Money {
  double amount = 0;
  std::string currency = {};  ///< Three capital letters, as in ISO 4217.

  bool operator==(const Money&) const = default;
};

/// `32.77 USD`; nothing for any other text, a number without a currency included.
std::optional<Money> parse_money(std::string_view text);

}  // namespace ringside
