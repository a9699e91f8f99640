#include "scenario/plan/money.hpp"

#include <algorithm>

#include "common/numbers.hpp"
#include "common/text.hpp"

namespace ringside {

bool can_be_paid(double amount) { return amount == 0 || (amount >= kLeastMoney && amount <= kMostMoney); }

std::optional<Money> parse_money(std::string_view text) {
  std::string_view unit = text;
  const std::optional<double> amount = take_number<double>(unit);
  unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
  const bool currency =
      unit.size() == 3 && std::ranges::all_of(unit, [](char c) { return c >= 'A' && c <= 'Z'; });
  if (!amount || !currency || !can_be_paid(*amount)) {
    return std::nullopt;
  }
  return Money{.amount = *amount, .currency = std::string(unit)};
}

std::optional<ExchangeRate> parse_exchange_rate(std::string_view text) {
  const std::size_t sign = text.find('=');
  if (sign == std::string_view::npos) {
    return std::nullopt;
  }
  const auto of = parse_money(trimmed(text.substr(0, sign), " "));
  const auto is = parse_money(trimmed(text.substr(sign + 1), " "));
  if (!of || !is || of->amount <= 0 || is->amount <= 0 || of->currency == is->currency) {
    return std::nullopt;
  }
  return ExchangeRate{.of = *of, .is = *is};
}

bool is_between(const ExchangeRate& rate, std::string_view one, std::string_view other) {
  return (rate.of.currency == one && rate.is.currency == other) ||
         (rate.of.currency == other && rate.is.currency == one);
}

std::optional<Money> exchanged(const Money& money, const std::string& currency,
                               const std::vector<ExchangeRate>& rates) {
  for (const ExchangeRate& rate : rates) {
    if (is_between(rate, money.currency, currency)) {
      const bool forward = rate.of.currency == money.currency;
      const double factor = forward ? rate.is.amount / rate.of.amount : rate.of.amount / rate.is.amount;
      return Money{.amount = money.amount * factor, .currency = currency};
    }
  }
  return std::nullopt;
}

}  // namespace ringside
