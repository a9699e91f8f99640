#pragma once

#include <string>
#include <string_view>

#include "scenario/machine.hpp"

namespace ringside {

/// The machine with one key set to another value, as if its file said so: `key` is a key of the machine file
/// (`nodes`), of one of its maps (`intra.bandwidth`), or of the first map that has it or may have it (`bandwidth`);
/// `value` is YAML (`20 GB/s`). Throws Error{bad_input} when the result is not a machine, with the same messages as a file.
Machine with_value(const Machine& machine, std::string_view key, const std::string& value);

}  // namespace ringside
