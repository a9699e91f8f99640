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
#include "common/quantity.hpp"
#include "common/text.hpp"

namespace ringside {
namespace {

constexpr std::array kWorkUnits = {Unit{"PFLOP", 1e15}, Unit{"TFLOP", 1e12}, Unit{"GFLOP", 1e9},
                                   Unit{"MFLOP", 1e6}, Unit{"FLOP", 1}};
constexpr std::array kDurationUnits = {Unit{"s", 1},     Unit{"min", 60},    Unit{"h", 3600},
                                       Unit{"d", 86400}, Unit{"day", 86400}, Unit{"days", 86400},
                                       Unit{"ms", 1e-3}, Unit{"us", 1e-6}};
constexpr std::array kShareUnits = {Unit{"%", 0.01}};

/// In base units; beyond these, what is computed from two of them would be infinite or 0.
constexpr double kSmallest = 1e-12;
constexpr double kLargest = 1e30;

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
ValueType<Q> united_type(const std::string& what, const std::string& example, std::span<const Unit> units) {
  const std::string form = fmt::format("a {} such as `{}`", what, example);
  return scalar_type<Q>(form, [=](const std::string& text) {
    const double quantity = parse_quantity(text, what, example, units);
    if (quantity < kSmallest || quantity > kLargest) {
      throw bad_input("{} {}; write {}", in_quotes(text),
                      quantity > 0 ? "is nothing that anybody has" : "must be more than zero", form);
    }
    return Q{quantity};
  });
}

}  // namespace

ValueType<double> work_type() { return united_type<double>("quantity of work", "8.2 GFLOP", kWorkUnits); }

ValueType<Seconds> duration_type() { return united_type<Seconds>("time", "2 h", kDurationUnits); }

ValueType<Money> money_type() {
  return parsed_type<Money>("an amount and its currency such as `20 USD`", parse_money);
}

ValueType<ExchangeRate> exchange_rate_type() {
  return parsed_type<ExchangeRate>("an exchange rate such as `1 EUR = 1.08 USD`", parse_exchange_rate);
}

ValueType<Interval<double>> share_range_type() {
  const std::string form = "a share such as `25 %`, or a range such as `[10 %, 30 %]`";
  const ValueType<double> share = united_type<double>("share", "25 %", kShareUnits);
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
  ValueType<std::int64_t> type = parsed_type<std::int64_t>(
      fmt::format("a whole number of at least {}", min),
      [min](std::string_view text) -> std::optional<std::int64_t> {
        constexpr double kMost = 9e15;  // Every whole number up to here is a double.
        const std::optional<double> number = parse_number<double>(text);
        const std::optional<std::int64_t> count = number ? std::nullopt : parse_count(text);  // `304 M`
        if (count && *count >= min) {
          return count;
        }
        return number && *number == std::floor(*number) && *number >= static_cast<double>(min) &&
                       *number <= kMost
                   ? std::optional(static_cast<std::int64_t>(*number))
                   : std::nullopt;
      });
  type.write = [](YAML::Emitter& out, const std::int64_t& count) { out << count; };
  return type;
}

std::optional<std::int64_t> parse_count(std::string_view text) {
  const std::optional<double> number = take_number<double>(text);
  constexpr std::array kLetters = {Unit{"", 1}, Unit{"M", 1e6}, Unit{"B", 1e9}, Unit{"T", 1e12}};
  const auto letter = std::ranges::find(kLetters, trimmed(text, " "), &Unit::text);
  if (!number || letter == kLetters.end()) {
    return std::nullopt;
  }
  const double count = *number * letter->multiplier;
  constexpr double kMost = 1e15;
  return count >= 1 && count < kMost ? std::optional(std::llround(count)) : std::nullopt;
}

ValueType<std::int64_t> tokens_type() {
  return parsed_type<std::int64_t>("a number of tokens such as `300 B` or 3e11", parse_count);
}

ValueType<double> positive_number_type(const std::string& form) {
  return scalar_type<double>(form, [form](const std::string& text) {
    const std::optional<double> number = parse_number<double>(text);
    if (!number || *number <= 0) {
      throw bad_input("{} is not {}", in_quotes(text), form);
    }
    // Products of such numbers must stay finite.
    constexpr double kMost = 1e18;
    if (*number > kMost || *number < 1 / kMost) {
      throw bad_input("{} is out of range: from {:g} to {:g}", in_quotes(text), 1 / kMost, kMost);
    }
    return *number;
  });
}

}  // namespace ringside
