#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringside {

/// Nothing, or between the two: what is rented or exchanged costs neither less nor more.
inline constexpr double kLeastMoney = 1e-9;
inline constexpr double kMostMoney = 1e12;

/// Whether something can cost that much: nothing, or an amount between kLeastMoney and kMostMoney.
bool can_be_paid(double amount);

struct Money {
  double amount = 0;
  std::string currency = {};  ///< Three capital letters, as in ISO 4217.

  bool operator==(const Money&) const = default;
};

/// `32.77 USD`; none for other text, also without a currency or for amounts nobody pays.
std::optional<Money> parse_money(std::string_view text);

/// Somebody states it: what `of` is worth. Amounts are more than zero, currencies differ.
struct ExchangeRate {
  Money of;
  Money is;

  bool operator==(const ExchangeRate&) const = default;
};

/// `1 EUR = 1.08 USD`; nothing for any other text.
std::optional<ExchangeRate> parse_exchange_rate(std::string_view text);

/// Whether the rate says what one of the currencies is worth in the other.
bool is_between(const ExchangeRate& rate, std::string_view one, std::string_view other);

/// By the rate between these two currencies, one way or the other; nothing without one.
std::optional<Money> exchanged(const Money& money, const std::string& currency,
                               const std::vector<ExchangeRate>& rates);

}  // namespace ringside
