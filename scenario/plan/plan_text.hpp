#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scenario/machine/machine.hpp"

/// Parts of a plan file, written.
namespace ringside {

/// The machine's keys as a map on one line, without its name and price, which an offer has.
std::string machine_on_one_line(const Machine& machine);

/// What a plan says of its workload instead of the file.
struct WorkloadChanges {
  std::optional<int> batch_per_gpu = {};
  /// `GPU` and samples per second, which count more than those of the file.
  std::vector<std::pair<std::string, double>> measured = {};

  /// Tokens of a sample of a language model: what was counted for another length no longer holds.
  std::optional<std::int64_t> sequence = {};

  std::optional<std::int64_t> tokens = {};  ///< Tokens of the whole run, of whatever length it was.
  std::optional<double> epochs = {};

  bool operator==(const WorkloadChanges&) const = default;
};

/// The workload of the file with these changes, lines below `workload:`. The file was loaded.
std::string changed_workload(const std::filesystem::path& file, const WorkloadChanges& changes);

/// The same of a language model of which nothing but its config.json is known. Throws as load_config_json().
std::string workload_of_config(const std::string& name, const std::filesystem::path& file,
                               const WorkloadChanges& changes);

}  // namespace ringside
