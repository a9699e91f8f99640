#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "scenario/machine/catalog.hpp"
#include "scenario/machine/machine.hpp"

/// Finding the files that ship with the program.
namespace ringside::study {

/// The configs/ folder: below the working directory, beside the source tree of a build, or where it was
/// installed. Nothing when there is none.
std::optional<std::filesystem::path> configs_directory();

/// The .yaml files of configs/<kind>, sorted. Throws Error{environment} where they lie nowhere, as with a
/// program that was copied alone.
std::vector<std::filesystem::path> shipped_configs(const std::string& kind);

/// A machine of configs/machines.
struct ShippedMachine {
  std::string name;  ///< As people call for it.
  Machine machine;
  std::optional<GpuSheet> gpu;  ///< None where the catalogue does not know it.
};

/// All of them, read when they are first asked for. Throws as shipped_configs().
const std::vector<ShippedMachine>& shipped_machines();

/// Which files of configs/<kind> are missing, and what to do about it.
std::string missing_files(const std::string& kind);

}  // namespace ringside::study
