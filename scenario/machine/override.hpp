#pragma once

#include <string>

#include "scenario/machine/machine.hpp"

namespace ringside {

/// A key that is to have another value than a file says.
struct KeyOverride {
  std::string key;     ///< `deadline`, `intra.bandwidth`, or the last word of a path: `bandwidth`
  std::string value;   ///< As YAML takes it: `20 GB/s`
  std::string origin;  ///< Who says so, for messages: `--sweep bandwidth=20GB/s`
};

/// The machine with one key set to another value, as if its file said so: a key of the file (`nodes`), of a
/// map (`intra.bandwidth`), or of the first map that may have it (`bandwidth`). Throws Error{bad_input}
/// when the result is not a machine, with the same messages as a file, but of the override's origin.
Machine with_value(const Machine& machine, const KeyOverride& override);

}  // namespace ringside
