#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scenario/machine/machine.hpp"

/// Finding the files that ship with the program.
namespace ringside::study {

/// The configs/ folder: below the working directory, beside the source tree of a build, or where it was
/// installed. Nothing when there is none.
std::optional<std::filesystem::path> configs_directory();

/// The .yaml files of configs/<kind>, sorted. Throws Error{environment} where they lie nowhere, as with a
/// program that was copied alone.
std::vector<std::filesystem::path> shipped_configs(const std::string& kind);

/// Machines that ship with the program by the names of their files, read when they are first asked for.
const std::vector<std::pair<std::string, Machine>>& shipped_machines();

/// Which files of configs/<kind> are missing, and what to do about it.
std::string missing_files(const std::string& kind);

}  // namespace ringside::study
