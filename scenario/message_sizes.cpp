#include "scenario/message_sizes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include "scenario/scenario.hpp"
#include "scenario/yaml/map_table.hpp"

namespace ringside {
namespace {

constexpr Bytes kMaxMessage{std::int64_t{1} << 50};

struct SizeRange {
  Bytes from;
  Bytes to;
  double factor = 4;
};

constexpr std::string_view kSizesForm =
    "a size such as `4 KiB`, a list of sizes, or `{from: 4 KiB, to: 64 MiB, factor: 4}`";

/// A size of whole elements; without a dtype that is not judged.
ValueType<Bytes> message_size_type(std::optional<DataType> dtype) {
  return narrowed(size_type(), [dtype](const Value& value, Bytes size) -> std::string {
    const auto element = dtype ? static_cast<std::int64_t>(size_of(*dtype)) : 1;
    const std::string text = in_quotes(value.node.Scalar());
    if (size > kMaxMessage) {
      return fmt::format("{} is more than 1 PiB, which no message is", text);
    }
    const std::int64_t nearest = std::max<std::int64_t>(1, (size.value + element / 2) / element) * element;
    return size.value % element == 0
               ? ""
               : fmt::format("{} is no whole number of {} ({} bytes each); the nearest is {} B", text,
                             name(*dtype), element, nearest);
  });
}

MapTable<SizeRange> size_range_table(std::optional<DataType> dtype) {
  return {.form = std::string(kSizesForm),
          .rows = {row<&SizeRange::from>(message_size_type(dtype), {.required = true}),
                   row<&SizeRange::to>(message_size_type(dtype), {.required = true}),
                   row<&SizeRange::factor>(factor_type(1), {.default_value = "4"})},
          .check = [](Reader& reader, const Value& value, SizeRange& range) {
            if (range.from.value > 0 && range.to.value > 0 && range.from > range.to) {
              reader.fail(value, "`from` ({}) is larger than `to` ({})", format(range.from),
                          format(range.to));
            }
            if (!(range.factor > 1)) {
              reader.fail(reader.find(value, "factor").value_or(value),
                          "{} leads nowhere; write a factor of more than 1, such as 2 or 4", range.factor);
            }
          }};
}

/// from, from·factor, from·factor², …, to, rounded to whole elements. None beyond kMaxListed.
std::optional<std::vector<Bytes>> sizes_of(const SizeRange& range, std::int64_t element) {
  const auto from = static_cast<double>(range.from.value);
  const auto to = static_cast<double>(range.to.value);
  if (std::log(to / from) / std::log(range.factor) > static_cast<double>(kMaxListed)) {
    return std::nullopt;
  }
  std::vector<Bytes> sizes = {range.from};
  for (double exact = from * range.factor; exact < to; exact *= range.factor) {
    const Bytes size{std::llround(exact / static_cast<double>(element)) * element};
    if (size > sizes.back() && size < range.to) {
      sizes.push_back(size);
    }
  }
  if (range.to > sizes.back()) {
    sizes.push_back(range.to);
  }
  return sizes.size() > kMaxListed ? std::nullopt : std::optional(sizes);
}

std::vector<Bytes> read_size_list(Reader& reader, const Value& value, std::optional<DataType> dtype) {
  const ListShape shape_of_list = {
      .form = std::string(kSizesForm), .single_allowed = true, .distinct = true, .max_items = kMaxListed};
  return list_type(message_size_type(dtype), shape_of_list)
      .read(reader, value)
      .value_or(std::vector<Bytes>{});
}

std::vector<Bytes> read_size_range(Reader& reader, const Value& value, std::optional<DataType> dtype) {
  const auto range = read_map(reader, value, size_range_table(dtype));
  if (!range) {
    return {};
  }
  auto sizes = sizes_of(*range, dtype ? static_cast<std::int64_t>(size_of(*dtype)) : 1);
  if (!sizes) {
    reader.fail(value, "is more than {} sizes; write a larger factor", kMaxListed);
    return {};
  }
  return std::move(*sizes);
}

}  // namespace

std::string message_sizes_form() { return std::string(kSizesForm); }

std::vector<KeyDescription> size_range_keys() { return keys_of(size_range_table({})); }

std::vector<Bytes> read_message_sizes(Reader& reader, const Value& value, std::optional<DataType> dtype) {
  return value.node.IsMap() ? read_size_range(reader, value, dtype) : read_size_list(reader, value, dtype);
}

}  // namespace ringside
