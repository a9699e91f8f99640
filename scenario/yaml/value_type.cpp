#include "scenario/yaml/value_type.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <string_view>

#include "common/numbers.hpp"

namespace ringside {
namespace {

/// `1,000,000`: a limit that people read. Not for negative numbers.
std::string grouped(std::int64_t number) {
  std::string text = fmt::format("{}", number);
  for (std::size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

/// The shortest text of these units that reads back as `value`, as the last, the base unit, always does.
template <typename Q>
std::string shortest_exact(Q value, Q (*parse)(std::string_view),
                           std::initializer_list<std::pair<std::string_view, double>> units) {
  std::string best;
  for (const auto& [unit, factor] : units) {
    const double number = value.value / factor;
    for (const double candidate :
         {number, std::nextafter(number, 0), std::nextafter(number, std::numeric_limits<double>::max())}) {
      std::string text = fmt::format("{} {}", candidate, unit);
      if ((best.empty() || text.size() < best.size()) && parse(text) == value) {
        best = std::move(text);
      }
    }
  }
  RINGSIDE_CHECK(!best.empty(), "a quantity that cannot be written");
  return best;
}

std::string exact(Seconds value) {
  return shortest_exact(value, parse_seconds, {{"us", 1e-6}, {"ms", 1e-3}, {"ns", 1e-9}, {"s", 1}});
}

std::string exact(BytesPerSecond value) {
  return shortest_exact(value, parse_bandwidth, {{"GB/s", 1e9}, {"MB/s", 1e6}, {"B/s", 1}});
}

std::string exact(SecondsPerByte value) {
  return shortest_exact(value, parse_seconds_per_byte, {{"ns/B", 1e-9}, {"ps/B", 1e-12}, {"s/B", 1}});
}

std::string exact(Bytes size) {
  const std::string text = format(size);
  // What is shown with a point was rounded.
  const bool whole = text.find('.') == std::string::npos;
  return whole && parse_bytes(text) == size ? text : fmt::format("{} B", size.value);
}

/// A quantity with a unit, whose parser in common/units says what is wrong with the text.
template <typename Q>
ValueType<Q> quantity_type(const std::string& form, Q (*parse)(std::string_view), Zero zero) {
  return scalar_type<Q>(
      form,
      [form, parse, zero](const std::string& text) {
        const Q quantity = parse(text);
        if (!(quantity.value > 0 || (zero == Zero::allowed && quantity.value == 0))) {
          throw bad_input("{} must be more than zero; write {}", in_quotes(text), form);
        }
        return quantity;
      },
      [](YAML::Emitter& out, const Q& quantity) { out << exact(quantity); });
}

}  // namespace

ValueType<std::string> text_type(const std::string& form) {
  return scalar_type<std::string>(
      form,
      [form](const std::string& text) {
        const bool control = std::ranges::any_of(text, [](char c) {
          const auto byte = static_cast<unsigned char>(c);
          return byte < 0x20 || byte == 0x7f;
        });
        if (control || text.find_first_not_of(' ') == std::string::npos) {
          throw bad_input("{} {}; write {}", in_quotes(text),
                          control ? "holds a line break or another control character" : "is empty", form);
        }
        return text;
      },
      [](YAML::Emitter& out, const std::string& text) { out << YAML::DoubleQuoted << text; });
}

ValueType<bool> bool_type() {
  ValueType<bool> type = scalar_type<bool>(
      "true or false",
      [](const std::string& text) {
        if (text != "true" && text != "false") {
          throw bad_input("{} is neither true nor false", in_quotes(text));
        }
        return text == "true";
      },
      [](YAML::Emitter& out, const bool& value) { out << value; });
  type.allowed = {"true", "false"};
  return type;
}

ValueType<int> whole_number_type(WholeRange range) {
  const std::string form = fmt::format("a whole number from {} to {}", range.min, grouped(range.max));
  return scalar_type<int>(
      form,
      [form, range](const std::string& text) {
        const auto number = parse_number<std::int64_t>(text);
        if (!number || *number < range.min || *number > range.max) {
          const bool whole = parse_number<double>(text).has_value() &&
                             (number || text.find_first_of(".eE") == std::string::npos);
          throw bad_input("{} is {}; write {}", in_quotes(text),
                          whole ? "out of range" : "not a whole number", form);
        }
        return static_cast<int>(*number);
      },
      [](YAML::Emitter& out, const int& value) { out << value; });
}

ValueType<double> factor_type(double min, double max) {
  const std::string form = fmt::format("a number from {} to {:g}", min, max);
  return scalar_type<double>(
      form,
      [form, min, max](const std::string& text) {
        const auto number = parse_number<double>(text);
        if (!number || !(min <= *number && *number <= max)) {
          throw bad_input("{} is not {}", in_quotes(text), form);
        }
        return *number;
      },
      [](YAML::Emitter& out, const double& value) { out << fmt::format("{}", value); });
}

ValueType<Bytes> size_type() { return quantity_type("a size such as `4 KiB`", parse_bytes, Zero::refused); }

ValueType<Seconds> time_type(Zero zero) {
  return quantity_type("a time such as `10 us`", parse_seconds, zero);
}

ValueType<BytesPerSecond> bandwidth_type(Zero zero) {
  return quantity_type("a bandwidth such as `20 GB/s` or `200 Gb/s`", parse_bandwidth, zero);
}

ValueType<SecondsPerByte> cost_type() {
  const auto any = quantity_type("a time per byte such as `0.1 ns/B`, or a rate such as `50 GB/s`",
                                 parse_seconds_per_byte, Zero::allowed);
  return narrowed(any, [](const Value& value, const SecondsPerByte& cost) {
    // A rate of zero would take for ever, but its inverse is taken for "costs nothing".
    const std::string& text = value.node.Scalar();
    return cost.value == 0 && text.find("/s") != std::string::npos
               ? fmt::format("{} must be more than zero; write `0 s/B` when reducing costs nothing",
                             in_quotes(text))
               : "";
  });
}

ValueType<std::string> word_type(const std::string& what, const std::vector<std::string>& words) {
  ValueType<std::string> type = scalar_type<std::string>(
      fmt::format("one of {}", fmt::join(words, ", ")),
      [what, words](const std::string& text) {
        if (std::ranges::count(words, text) == 0) {
          throw Error(ErrorKind::bad_input, unknown_name(what, text, words));
        }
        return text;
      },
      [](YAML::Emitter& out, const std::string& word) { out << word; });
  type.allowed = words;
  return type;
}

template <typename Q>
ValueType<Interval<double>> interval_type(const ValueType<Q>& quantity, const std::string& example) {
  const ValueType<std::vector<Q>> ends = list_type(
      quantity, {.form = fmt::format("both ends of an interval such as `{}`", example), .on_one_line = true});
  return {.form = ends.form,
          .read = [ends](Reader& reader, const Value& value) -> std::optional<Interval<double>> {
            const auto pair = ends.read(reader, value);
            if (pair && (pair->size() != 2 || (*pair)[1] < (*pair)[0])) {
              reader.fail(value, "{}; write {}",
                          pair->size() == 2 ? "the lower end comes first"
                                            : fmt::format("has {} values, not 2", pair->size()),
                          ends.form);
              return std::nullopt;
            }
            // A quantity is a double with a unit, or a double.
            return pair ? std::optional(Interval<double>{.low = std::bit_cast<double>((*pair)[0]),
                                                         .high = std::bit_cast<double>((*pair)[1])})
                        : std::nullopt;
          },
          .write =
              [ends](YAML::Emitter& out, const Interval<double>& interval) {
                ends.write(out, {Q{interval.low}, Q{interval.high}});
              }};
}

template ValueType<Interval<double>> interval_type(const ValueType<Seconds>&, const std::string&);
template ValueType<Interval<double>> interval_type(const ValueType<BytesPerSecond>&, const std::string&);
template ValueType<Interval<double>> interval_type(const ValueType<SecondsPerByte>&, const std::string&);
template ValueType<Interval<double>> interval_type(const ValueType<double>&, const std::string&);

}  // namespace ringside
