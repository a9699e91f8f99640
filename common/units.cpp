#include "common/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "common/failures.hpp"
#include "common/numbers.hpp"
#include "common/quantity.hpp"
#include "common/text.hpp"

namespace ringside {
namespace {

constexpr std::array kSizeUnits = {
    Unit{"B"},       Unit{"KiB", 1024}, Unit{"MiB", 1048576}, Unit{"GiB", 1073741824},
    Unit{"KB", 1e3}, Unit{"MB", 1e6},   Unit{"GB", 1e9},
};
constexpr std::array kTimeUnits = {Unit{"ns", 1, 1e9}, Unit{"us", 1, 1e6}, Unit{"ms", 1, 1e3},
                                   Unit{"s"},          Unit{"min", 60},    Unit{"h", 3600}};
constexpr std::array kRateUnits = {
    Unit{"GB/s", 1e9},         Unit{"MB/s", 1e6},      Unit{"KB/s", 1e3},    Unit{"B/s"},
    Unit{"Gb/s", 1e9, 8},      Unit{"Mb/s", 1e6, 8},   Unit{"Kb/s", 1e3, 8}, Unit{"TB/s", 1e12},
    Unit{"GiB/s", 1073741824}, Unit{"MiB/s", 1048576}, Unit{"KiB/s", 1024},
};
constexpr std::array kCostUnits = {Unit{"ns/B", 1, 1e9}, Unit{"us/B", 1, 1e6}, Unit{"ms/B", 1, 1e3},
                                   Unit{"s/B"}, Unit{"ps/B", 1, 1e12}};

/// In base units; beyond, what two quantities give would be infinite, 0, or a hundred digits.
constexpr double kSmallest = 1e-30;
constexpr double kLargest = 1e30;
constexpr std::string_view kBlanks = " \t";

std::string listed(std::span<const Unit> units) {
  std::string result;
  for (const Unit& unit : units) {
    result += result.empty() ? "" : " ";
    result += unit.text;
  }
  return result;
}

/// What our units are called elsewhere. The nearest word to Gbps is GB/s, eight times as much.
struct OtherSpelling {
  std::string_view text;
  std::string_view unit;
};
constexpr std::array kOtherSpellings = {
    OtherSpelling{"Gbps", "Gb/s"},   OtherSpelling{"Mbps", "Mb/s"},   OtherSpelling{"Kbps", "Kb/s"},
    OtherSpelling{"Gbit/s", "Gb/s"}, OtherSpelling{"Mbit/s", "Mb/s"}, OtherSpelling{"GBps", "GB/s"},
    OtherSpelling{"MBps", "MB/s"},   OtherSpelling{"K", "KiB"},       OtherSpelling{"M", "MiB"},
    OtherSpelling{"G", "GiB"},
};

/// The micro sign and the Greek letter are read as `u`: they mean nothing else.
std::string in_ascii(std::string_view unit) {
  for (const std::string_view micro : {"\u00b5", "\u03bc"}) {
    if (unit.starts_with(micro)) {
      return fmt::format("u{}", unit.substr(micro.size()));
    }
  }
  return std::string(unit);
}

/// `; did you mean 'Gb/s'?` for Gbps where that is one of `units`; nothing otherwise.
std::string suggestion(std::string_view unit_text, std::span<const Unit> units) {
  for (const OtherSpelling& spelling : kOtherSpellings) {
    const bool is_ours =
        std::ranges::any_of(units, [&](const Unit& unit) { return unit.text == spelling.unit; });
    if (spelling.text == unit_text && is_ours) {
      return fmt::format("; did you mean '{}'?", spelling.unit);
    }
  }
  return {};
}

[[noreturn]] void reject(std::string_view text, std::string_view why) {
  throw bad_input("'{}' {}", text, why);
}

}  // namespace

double parse_quantity(std::string_view text, std::string_view what, std::string_view example,
                      std::span<const Unit> units) {
  const std::string_view body = trimmed(text, kBlanks);
  std::string_view rest = body;
  const std::optional<double> taken = take_number<double>(rest);
  if (!taken) {
    reject(text, fmt::format("is not a {}; write a number and a unit, such as {}", what, example));
  }
  const double number = *taken;
  const std::string_view unit_text = trimmed(rest, kBlanks);
  if (unit_text.empty()) {
    reject(text, fmt::format("has no unit; write a {} such as {} ({})", what, example, listed(units)));
  }
  if (!std::isfinite(number) || number < 0) {
    reject(text, fmt::format("is not a {}: it must be finite and not negative", what));
  }
  const std::string ascii = in_ascii(unit_text);
  for (const Unit& unit : units) {
    if (unit.text == ascii) {
      const double value = number * unit.multiplier / unit.divisor;
      if (value > kLargest || (value != 0 && value < kSmallest)) {
        reject(text, fmt::format("is no {} that any machine could have", what));
      }
      return value;
    }
  }
  reject(text, fmt::format("has the unit '{}', but the units of a {} are {}{}", unit_text, what,
                           listed(units), suggestion(unit_text, units)));
}

namespace {

/// Three significant digits (more before the point), without an exponent and without trailing zeros.
std::string three_digits(double value) {
  if (value == 0 || !std::isfinite(value)) {
    return fmt::format("{}", value);
  }
  constexpr int kMostDecimals = 15;
  const int magnitude = static_cast<int>(std::floor(std::log10(std::abs(value)) + 1e-12));
  const int decimals = std::clamp(2 - magnitude, 0, kMostDecimals);
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') {
      text.pop_back();
    }
  }
  return text;
}

/// In the largest of `units` (in descending order) of which it is at least one once it is rounded, so that
/// 999.9 us is 1 ms and not 1000 us; in the last one otherwise.
std::string three_digits_in(double value, std::span<const Unit> units) {
  constexpr double kRoundsUp = 0.9995;
  for (const Unit& unit : units) {
    const double number = value * unit.divisor / unit.multiplier;
    if (std::abs(number) >= kRoundsUp || &unit == &units.back()) {
      return fmt::format("{} {}", three_digits(number), unit.text);
    }
  }
  throw_bug("a unit", __FILE__, __LINE__, "a quantity is to be shown in no unit");
}

}  // namespace

Bytes parse_bytes(std::string_view text) {
  const double value = parse_quantity(text, "size", "4 KiB", kSizeUnits);
  if (value > 9.2e18) {
    reject(text, "is larger than any message can be (8 EiB)");
  }
  if (std::abs(value - std::round(value)) > 1e-6) {
    reject(text, "is not a whole number of bytes");
  }
  return {std::llround(value)};
}

Seconds parse_seconds(std::string_view text) { return {parse_quantity(text, "time", "10 us", kTimeUnits)}; }

BytesPerSecond parse_bandwidth(std::string_view text) {
  return {parse_quantity(text, "bandwidth", "20 GB/s", kRateUnits)};
}

SecondsPerByte parse_seconds_per_byte(std::string_view text) {
  if (text.find("/s") != std::string_view::npos) {
    return inverse(parse_bandwidth(text));
  }
  return {parse_quantity(text, "time per byte", "0.1 ns/B", kCostUnits)};
}

std::string format(Bytes size) {
  struct Step {
    std::int64_t factor;
    std::string_view unit;
  };
  // A whole number of binary or decimal units is shown exactly; anything else is rounded.
  constexpr std::array kExact = {Step{1073741824, "GiB"}, Step{1000000000, "GB"}, Step{1048576, "MiB"},
                                 Step{1000000, "MB"},     Step{1024, "KiB"},      Step{1000, "KB"}};
  for (const Step& step : kExact) {
    const bool short_enough = size.value / step.factor < 10'000;
    if (size.value >= step.factor && size.value % step.factor == 0 && short_enough) {
      return fmt::format("{} {}", size.value / step.factor, step.unit);
    }
  }
  constexpr std::array kUnits = {Unit{"GiB", 1073741824}, Unit{"MiB", 1048576}, Unit{"KiB", 1024}, Unit{"B"}};
  return size.value < 1024 ? fmt::format("{} B", size.value)
                           : three_digits_in(static_cast<double>(size.value), kUnits);
}

std::string format(Seconds time) {
  constexpr std::array kUnits = {Unit{"s"}, Unit{"ms", 1, 1e3}, Unit{"µs", 1, 1e6}, Unit{"ns", 1, 1e9}};
  return time.value == 0 ? "0 µs" : three_digits_in(time.value, kUnits);
}

std::string format(BytesPerSecond rate) {
  constexpr std::array kUnits = {Unit{"GB/s", 1e9}, Unit{"MB/s", 1e6}, Unit{"KB/s", 1e3}};
  return three_digits_in(rate.value, kUnits);
}

std::string format(SecondsPerByte cost) { return three_digits(cost.value * 1e9) + " ns/B"; }

}  // namespace ringside
