#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "scenario/machine/machine.hpp"
#include "study/inputs/invocation.hpp"
#include "study/logs/topology.hpp"

/// What the machine is that this runs on, from its system and programs; machine files are written.
namespace ringside::study {

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

/// Looks below `root` at sys/class/dmi/id and run/cloud-init; never over the network.
std::optional<Instance> this_instance(const std::filesystem::path& root = "/");

}  // namespace ringside::study
