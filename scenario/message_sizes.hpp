#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/names.hpp"
#include "common/units.hpp"
#include "scenario/yaml/keys.hpp"
#include "scenario/yaml/reader.hpp"

/// The key `message_sizes` of a scenario: one size, a list of sizes, or a range.
namespace ringside {

std::string message_sizes_form();

/// Keys of a range: `from`, `to`, `factor`.
std::vector<KeyDescription> size_range_keys();

/// Every size is a whole number of elements, not judged without a dtype. Empty after a problem.
std::vector<Bytes> read_message_sizes(Reader& reader, const Value& value, std::optional<DataType> dtype);

}  // namespace ringside
