#include "study/inputs/sweep_values.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "common/failures.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "scenario/scenario.hpp"

namespace ringside::study {
namespace {

constexpr std::size_t kMaxValues = 1000;
constexpr std::size_t kMaxCombinations = 100'000;  // half a minute and under a GB, at eight ranks

/// A number in base units and the base unit's text (empty for a plain number).
struct Quantity {
  double value = 0;
  std::string_view unit;
};

[[noreturn]] void reject(std::string_view text, std::string_view why) {
  throw bad_key(
      "sweep {}: {}; write KEY=FROM:TO:STEP, for example bandwidth=5GB/s:100GB/s:log10, "
      "ranks=2:64:2x, or KEY=A,B,C",
      text, why);
}

template <typename Parse>
std::optional<double> parsed(Parse parse, std::string_view text) {
  try {
    return static_cast<double>(parse(text).value);
  } catch (const Error&) {
    return std::nullopt;
  }
}

Quantity parse_quantity(std::string_view sweep, std::string_view text) {
  if (const auto number = parse_number<double>(text)) {
    return {.value = *number, .unit = ""};
  }
  if (const auto rate = parsed(parse_bandwidth, text)) {
    return {.value = *rate, .unit = "B/s"};
  }
  if (const auto size = parsed(parse_bytes, text)) {
    return {.value = *size, .unit = "B"};
  }
  if (const auto time = parsed(parse_seconds, text)) {
    return {.value = *time, .unit = "s"};
  }
  reject(sweep, fmt::format("'{}' is neither a number nor a quantity with a unit", text));
}

std::string written(const Quantity& quantity) {
  // Whole numbers stay whole: ranks and sizes are integers. Fifteen digits keep 5 GB/s from becoming 4.9999….
  const bool whole = quantity.unit == "B" || std::abs(quantity.value - std::round(quantity.value)) < 1e-9;
  const std::string number =
      whole ? fmt::format("{:.0f}", std::round(quantity.value)) : fmt::format("{:.15g}", quantity.value);
  return quantity.unit.empty() ? number : fmt::format("{} {}", number, quantity.unit);
}

std::vector<double> spaced(double from, double to, std::size_t count, bool logarithmic) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) {
    const double part = count == 1 ? 0 : static_cast<double>(i) / static_cast<double>(count - 1);
    values.push_back(logarithmic ? from * std::pow(to / from, part) : from + part * (to - from));
  }
  values.back() = count == 1 ? from : to;
  return values;
}

std::vector<double> range_values(std::string_view sweep, const Quantity& from, const Quantity& to,
                                 std::string_view step) {
  for (const bool logarithmic : {true, false}) {
    const std::string_view prefix = logarithmic ? "log" : "lin";
    if (step.starts_with(prefix)) {
      const auto count = parse_number<double>(step.substr(prefix.size()));
      if (!count || *count < 1 || *count > static_cast<double>(kMaxValues) || *count != std::floor(*count)) {
        reject(sweep, fmt::format("'{}' must end in a number of values, 1 to {}", step, kMaxValues));
      }
      if (logarithmic && from.value <= 0) {
        reject(sweep, "a logarithmic range starts above zero");
      }
      return spaced(from.value, to.value, static_cast<std::size_t>(*count), logarithmic);
    }
  }
  const bool multiply = step.ends_with('x');
  const Quantity by = multiply
                          ? Quantity{parse_number<double>(step.substr(0, step.size() - 1)).value_or(0), ""}
                          : parse_quantity(sweep, step);
  if (multiply ? !(by.value > 1 && from.value > 0) : !(by.value > 0)) {
    reject(sweep, fmt::format("the step '{}' does not lead from {} to {}", step, written(from), written(to)));
  }
  if (!multiply && by.unit != from.unit) {
    reject(sweep, fmt::format("the step '{}' has another unit than the range", step));
  }
  std::vector<double> values;
  for (double value = from.value; value <= to.value * (1 + 1e-12);
       value = multiply ? value * by.value : value + by.value) {
    if (values.size() == kMaxValues) {
      reject(sweep, fmt::format("more than {} values", kMaxValues));
    }
    values.push_back(value);
  }
  return values;
}

}  // namespace

Sweep parse_sweep(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size()) {
    reject(text, "a key and its values are separated by '='");
  }
  Sweep sweep{.key = std::string(text.substr(0, equals)), .values = {}};
  const std::string_view values = text.substr(equals + 1);
  const std::vector<std::string_view> range = split(values, ':');
  if (range.size() == 1) {
    for (const std::string_view value : split(values, ',')) {
      if (value.empty()) {
        reject(text, "a value of the list is empty");
      }
      sweep.values.emplace_back(value);
    }
    return sweep;
  }
  if (range.size() != 3) {
    reject(text, "a range has three parts");
  }
  const Quantity from = parse_quantity(text, range[0]);
  const Quantity to = parse_quantity(text, range[1]);
  if (from.unit != to.unit) {
    reject(text, "FROM and TO have different kinds of units");
  }
  if (from.value > to.value) {
    reject(text, "FROM is larger than TO");
  }
  sweep.range = true;
  for (const double value : range_values(text, from, to, range[2])) {
    sweep.values.push_back(written({.value = value, .unit = from.unit}));
  }
  return sweep;
}

std::string origin_of(const Sweep& sweep, const std::string& value) {
  return fmt::format("sweep {}={}", sweep.key, value);
}

void require_known_keys(std::span<const Sweep> sweeps, std::span<const std::string> known,
                        std::string_view what) {
  std::vector<std::string> names(known.begin(), known.end());
  for (const std::string& path : known) {
    names.push_back(path.substr(path.rfind('.') + 1));
  }
  for (const Sweep& sweep : sweeps) {
    if (std::ranges::find(names, sweep.key) == names.end()) {
      const std::optional<std::string> nearest = nearest_name(sweep.key, names);
      throw bad_key("sweep {}: is no key of {}{}", sweep.key, what,
                    nearest ? fmt::format("; did you mean '{}'?", *nearest) : "");
    }
  }
  const auto last = [](const std::string& key) { return key.substr(key.rfind('.') + 1); };
  for (std::size_t i = 0; i < sweeps.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const std::string& one = sweeps[i].key;
      const std::string& other = sweeps[j].key;
      if (one == other) {
        throw bad_key("sweep {}: is swept twice; write its values into one list", one);
      }
      if (last(one) == other || one == last(other)) {
        throw bad_key("sweep {}: may be the same key as {}; write both in full", one, other);
      }
    }
  }
}

std::vector<std::vector<std::string>> combinations(std::span<const Sweep> sweeps) {
  std::vector<std::vector<std::string>> result = {{}};
  for (const Sweep& sweep : sweeps) {
    if (result.size() * sweep.values.size() > kMaxCombinations) {
      throw bad_key("sweep {}: these sweeps make more than {} combinations; fewer values show as much",
                    sweep.key, kMaxCombinations);
    }
    std::vector<std::vector<std::string>> longer;
    for (const auto& prefix : result) {
      for (const std::string& value : sweep.values) {
        longer.push_back(prefix);
        longer.back().push_back(value);
      }
    }
    result = std::move(longer);
  }
  return result;
}

std::string readable(const std::string& value) {
  if (value.ends_with(" B/s")) {
    return format(parse_bandwidth(value));
  }
  if (value.ends_with(" B")) {
    return format(parse_bytes(value));
  }
  return value.ends_with(" s") ? format(parse_seconds(value)) : value;
}

int whole_number(const std::string& key, const std::string& text) {
  const std::optional<int> value = parse_number<int>(text);
  if (!value || *value < 1 || *value > kMaxRanks) {
    throw bad_key("sweep {}={}: '{}' is not a whole number from 1 to {}", key, text, text, kMaxRanks);
  }
  return *value;
}

Bytes size_of_message(const std::string& text, bool step_of_range, DataType dtype) {
  Bytes size;
  try {
    size = parse_bytes(text);
  } catch (const Error& error) {
    throw bad_key("sweep bytes={}: {}", text, error.what());
  }
  const auto element = static_cast<std::int64_t>(size_of(dtype));
  const Bytes whole{size.value / element * element};
  if (whole != size && !(step_of_range && whole.value > 0)) {
    throw bad_key("sweep bytes={}: is no whole number of {} ({} bytes each)", text, name(dtype), element);
  }
  return whole;
}

}  // namespace ringside::study
