#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "scenario/machine/machine.hpp"
#include "scenario/plan/money.hpp"
#include "scenario/yaml/value_type.hpp"

/// Values that only workloads and plans have.
namespace ringside {

/// `8.2 GFLOP`, a positive number of floating-point operations.
ValueType<double> work_type();
/// `90 min`, `2 h`, `3 days`, and the units of other times; more than zero.
ValueType<Seconds> duration_type();
/// `20 USD`
ValueType<Money> money_type();
/// `1 EUR = 1.08 USD`
ValueType<ExchangeRate> exchange_rate_type();
/// `[10 %, 30 %]`, or `25 %` for both ends; in (0, 1].
/// Typical is the geometric mean of the ends.
ValueType<Interval<double>> share_range_type();
/// `300 B` with a letter for millions, billions or trillions, or `3e11`; none = not a count from 1 to 1e15.
std::optional<std::int64_t> parse_count(std::string_view text);
/// As parse_count().
ValueType<std::int64_t> tokens_type();
/// A whole number from `min` to 9e15, also where it is written `1.5e9` or `304 M`.
ValueType<std::int64_t> count_type(std::int64_t min);
/// A plain number of more than zero.
ValueType<double> positive_number_type(const std::string& form);

}  // namespace ringside
