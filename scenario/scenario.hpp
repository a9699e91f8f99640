#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/names.hpp"
#include "common/units.hpp"
#include "scenario/machine/machine.hpp"

/// A scenario: what is asked. Loaded from YAML (docs/scenario.md), checked completely before anything runs.
namespace ringside {

/// More cannot be asked for; far fewer can be measured.
inline constexpr int kMaxRanks = 16'777'216;
/// Most entries of one list or range: numbers of ranks, message sizes.
inline constexpr std::size_t kMaxListed = 1000;

/// What `ringside-lab evaluate` has to know of a scenario beside its measurements.
struct Evaluation {
  std::string source = {};  ///< Where the measurements were published.
  /// The source: systems of one source are held out of a fit together.
  std::string group = {};
  std::optional<std::string> excluded = {};   ///< Why this is no fair test; it is listed apart.
  std::optional<std::string> uncertain = {};  ///< What of the machine's description is a guess.

  bool operator==(const Evaluation&) const = default;
};

struct Scenario {
  std::string name;
  Collective collective = Collective::all_reduce;
  std::vector<std::string> algorithms;  ///< registry names or `native`
  std::vector<int> ranks;
  std::optional<int> ranks_per_node = {};  ///< none: as many as a node has GPUs. `machine` has it, too.
  std::vector<Bytes> message_sizes;
  DataType dtype = DataType::float32;
  ReduceOp op = ReduceOp::sum;
  Backend backend = Backend::automatic;
  /// None when the scenario says `machine: this`.
  std::optional<Machine> machine;
  std::optional<std::filesystem::path> measured;
  /// One of a file's `systems`. Of a table with a column `system` the rows of this name count.
  bool is_system = false;
  std::optional<Evaluation> evaluation;
  /// What NCCL is told when it measures. `machine` has it, too.
  Software software = {};
  std::filesystem::path file;
};

/// What a scenario may name. Algorithms are passed in because this module stands above schedule/, the folder
/// because only the program knows where it was installed.
struct KnownNames {
  /// Names of the algorithms of a collective, `native` included.
  std::vector<std::string> (*algorithms)(Collective) = nullptr;
  /// Where machines lie that a scenario names without their file: `p4d.24xlarge` is p4d.24xlarge.yaml there.
  std::optional<std::filesystem::path> machines = {};
};

/// A file's scenarios: one, or each of its `systems`. Throws Error{bad_input} with every problem (also of its
/// machine file) as `file:line:column: key: what`, one per line. Relative paths are relative to the file.
std::vector<Scenario> load_scenarios(const std::filesystem::path& file, const KnownNames& known);

/// The only scenario of a file, or the one of this name where the path says `FILE#NAME`.
Scenario load_scenario(const std::filesystem::path& file, const KnownNames& known);

/// Likewise for a machine file of its own.
/// `known`, when given, is what the names under the key `known` are checked against.
Machine load_machine(const std::filesystem::path& file, const KnownNames& known = {});

/// Likewise for YAML in memory; `origin` is what messages call it, and the machine's name if none is said.
Machine parse_machine(const std::string& yaml, const std::string& origin);

/// YAML that load_machine() accepts and that reads back as the same machine, to the last bit; only `origin`
/// and lines in the file are not kept. The machine must be one that load_machine() could have returned.
std::string to_yaml(const Machine& machine);

}  // namespace ringside
