#include "scenario/plan/plan_values.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "common/failures.hpp"
#include "common/numbers.hpp"

namespace ringside {
namespace {

struct Unit {
  std::string_view text;
  double value;
};

constexpr std::array kWorkUnits = {Unit{"PFLOP", 1e15}, Unit{"TFLOP", 1e12}, Unit{"GFLOP", 1e9},
                                   Unit{"MFLOP", 1e6}, Unit{"FLOP", 1}};
constexpr std::array kDurationUnits = {Unit{"s", 1},     Unit{"min", 60},    Unit{"h", 3600},
                                       Unit{"d", 86400}, Unit{"day", 86400}, Unit{"days", 86400},
                                       Unit{"ms", 1e-3}, Unit{"us", 1e-6}};
constexpr std::array kShareUnits = {Unit{"%", 0.01}};

/// In base units; beyond these, what is computed from two of them would be infinite or 0.
constexpr double kSmallest = 1e-12;
constexpr double kLargest = 1e30;

struct Number {
  double value = 0;
  std::string_view unit;
};

std::optional<Number> number_and_unit(std::string_view text) {
  const std::optional<double> value = take_number<double>(text);
  if (!value || !std::isfinite(*value)) {
    return std::nullopt;
  }
  Number number = {.value = *value, .unit = text};
  number.unit.remove_prefix(std::min(number.unit.find_first_not_of(' '), number.unit.size()));
  return number;
}

std::string listed(std::span<const Unit> units) {
  std::string text;
  for (const Unit& unit : units) {
    text += fmt::format("{}{}", text.empty() ? "" : " ", unit.text);
  }
  return text;
}

/// What `parse` makes of the text; none of it is refused with the form.
template <typename T>
ValueType<T> parsed_type(const std::string& form, std::function<std::optional<T>(std::string_view)> parse) {
  return scalar_type<T>(form, [form, parse = std::move(parse)](const std::string& text) {
    const std::optional<T> parsed = parse(text);
    if (!parsed) {
      throw bad_input("{} is not {}", in_quotes(text), form);
    }
    return *parsed;
  });
}

/// A positive number with one of these units, in base units.
template <typename Q>
ValueType<Q> united_type(const std::string& form, std::span<const Unit> units) {
  return scalar_type<Q>(form, [form, units](const std::string& text) {
    const std::string quoted = in_quotes(text);
    const auto number = number_and_unit(text);
    if (!number) {
      throw bad_input("{} is not {}", quoted, form);
    }
    if (number->unit.empty()) {
      throw bad_input("{} has no unit; write {} ({})", quoted, form, listed(units));
    }
    const auto unit = std::ranges::find(units, number->unit, &Unit::text);
    if (unit == units.end()) {
      throw bad_input("{} has the unit {}, but the units here are {}", quoted, in_quotes(number->unit),
                      listed(units));
    }
    if (number->value <= 0) {
      throw bad_input("{} must be more than zero; write {}", quoted, form);
    }
    const double quantity = number->value * unit->value;
    if (quantity < kSmallest || quantity > kLargest) {
      throw bad_input("{} is not {} that anybody has", quoted, form);
    }
    return Q{quantity};
  });
}

}  // namespace

ValueType<double> work_type() {
  return united_type<double>("an amount of work such as `8.2 GFLOP`", kWorkUnits);
}

ValueType<Seconds> duration_type() {
  return united_type<Seconds>("a time such as `2 h` or `90 min`", kDurationUnits);
}

ValueType<Money> money_type() {
  return parsed_type<Money>("an amount and its currency such as `20 USD`", parse_money);
}

ValueType<ExchangeRate> exchange_rate_type() {
  return parsed_type<ExchangeRate>("an exchange rate such as `1 EUR = 1.08 USD`", parse_exchange_rate);
}

ValueType<Interval<double>> share_range_type() {
  const std::string form = "a share such as `25 %`, or a range such as `[10 %, 30 %]`";
  const ValueType<double> share = united_type<double>("a share such as `25 %`", kShareUnits);
  return {.form = form,
          .read = [form, share](Reader& reader, const Value& value) -> std::optional<Interval<double>> {
            const auto shares = list_type(share, {.form = form, .single_allowed = true}).read(reader, value);
            if (!shares) {
              return std::nullopt;
            }
            const Interval<double> range{.low = shares->front(),
                                         .typical = std::sqrt(shares->front() * shares->back()),
                                         .high = shares->back()};
            if (shares->size() > 2 || range.high < range.low || range.high > 1) {
              reader.fail(value, "{}; write {}",
                          shares->size() > 2       ? "has more than two ends"
                          : range.high < range.low ? "the lower end comes first"
                                                   : "is more than 100 %",
                          form);
              return std::nullopt;
            }
            return range;
          },
          .write = {}};
}

ValueType<std::int64_t> count_type(std::int64_t min) {
  return parsed_type<std::int64_t>(
      fmt::format("a whole number of at least {}", min),
      [min](std::string_view text) -> std::optional<std::int64_t> {
        constexpr double kMost = 9e15;  // Every whole number up to here is a double.
        const auto number = number_and_unit(text);
        if (number && !number->unit.empty()) {
          const std::optional<std::int64_t> count = parse_count(text);  // `304 M`
          return count && *count >= min ? count : std::nullopt;
        }
        if (!number || number->value != std::floor(number->value) ||
            number->value < static_cast<double>(min) || number->value > kMost) {
          return std::nullopt;
        }
        return static_cast<std::int64_t>(number->value);
      });
}

std::optional<std::int64_t> parse_count(std::string_view text) {
  const std::optional<Number> number = number_and_unit(text);
  if (!number) {
    return std::nullopt;
  }
  constexpr std::array kLetters = {Unit{"", 1}, Unit{"M", 1e6}, Unit{"B", 1e9}, Unit{"T", 1e12}};
  const std::string_view unit = number->unit.substr(0, number->unit.find_last_not_of(' ') + 1);
  const auto letter = std::ranges::find(kLetters, unit, &Unit::text);
  if (letter == kLetters.end()) {
    return std::nullopt;
  }
  const double count = number->value * letter->value;
  constexpr double kMost = 1e15;
  return count >= 1 && count < kMost ? std::optional(std::llround(count)) : std::nullopt;
}

ValueType<std::int64_t> tokens_type() {
  return parsed_type<std::int64_t>("a number of tokens such as `300 B` or 3e11", parse_count);
}

ValueType<double> positive_number_type(const std::string& form) {
  return scalar_type<double>(form, [form](const std::string& text) {
    const auto number = number_and_unit(text);
    if (!number || !number->unit.empty() || number->value <= 0) {
      throw bad_input("{} is not {}", in_quotes(text), form);
    }
    // Products of such numbers must stay finite.
    constexpr double kMost = 1e18;
    if (number->value > kMost || number->value < 1 / kMost) {
      throw bad_input("{} is out of range: from {:g} to {:g}", in_quotes(text), 1 / kMost, kMost);
    }
    return number->value;
  });
}

}  // namespace ringside
