#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/machine/topology_matrix.hpp"
#include "study/inputs/invocation.hpp"

/// What a machine is, from what its system or somebody's text of it says.
namespace ringside::study {

/// Whether a text is one that machine_of_text() reads.
bool holds_topology(std::string_view text);

/// From the matrix of nvidia-smi topo -m, NCCL's topology XML, or `lspci -tv`. `gpu` is the model of the
/// GPUs, where it is known. Throws Error{bad_input}.
TopologyMachine machine_of_text(std::string_view text, const std::string& name,
                                const std::optional<std::string>& gpu);

struct ImportedMachine {
  Machine machine;
  std::string yaml;  ///< What the file holds below its notes.
  std::vector<std::string> notes =
      {};  ///< Whole sentences: what the source does not say, or what was taken for granted.
  std::filesystem::path file;  ///< That was written.
};

/// Reads such a text and writes a machine file.
ImportedMachine import_topology(const std::filesystem::path& text, const std::optional<std::string>& gpu,
                                const Invocation& invocation);

/// Where the description of this machine, or of a copy of its files, comes from.
struct LocalSystem {
  std::filesystem::path system = "/sys";             ///< /sys, or a copy of it.
  bool asks_programs = true;                         ///< nvidia-smi, and what NCCL_TOPO_FILE names.
  std::filesystem::path cpu_info = "/proc/cpuinfo";  ///< Its `vendor_id`.
};

/// This machine: NCCL_TOPO_FILE's XML, else nvidia-smi topo -m with sysfs's slots and NICs, else
/// sysfs alone. Writes a machine file. Throws Error{environment} where there are no GPUs.
ImportedMachine find_topology(const LocalSystem& local, const std::optional<std::string>& gpu,
                              const Invocation& invocation);

/// The cloud instance's type or server's name, if local files say it and `ringside list machines` has it.
struct Instance {
  std::string machine = {};  ///< `p4d.24xlarge`
  std::string source = {};   ///< The file that says it.
};
/// Looks below `root` at sys/class/dmi/id and run/cloud-init; never over the network.
std::optional<Instance> this_instance(const std::filesystem::path& root = "/");

}  // namespace ringside::study
