#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "scenario/machine/machine.hpp"
#include "scenario/yaml/reader.hpp"

/// The machine that a scenario names: `../machines/box.yaml`, `p4d.24xlarge`, `2 x p4d.24xlarge` or `this`.
namespace ringside {

/// What messages call such a value.
std::string machine_form();

/// `2 x p4d.24xlarge`, or `2x p4d.24xlarge`, in its parts; without a number one of it.
struct Counted {
  int count = 1;
  std::string what = {};
};
Counted counted(const std::string& text);

/// Which name is meant: in any case, and Azure's without `Standard_` and what follows the size (`NC24ads`).
std::optional<std::string> name_of_machine(const std::string& text, const std::vector<std::string>& names);

/// Nothing for `this`, and after a problem was added. A file relative to the scenario's folder comes before a
/// name; names are those of the files in `machines`, in any case of letters.
std::optional<Machine> read_named_machine(Reader& reader, const Value& value,
                                          const std::optional<std::filesystem::path>& machines);

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
