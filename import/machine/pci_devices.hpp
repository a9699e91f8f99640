#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/machine/topology_xml.hpp"

/// The PCI devices of a machine, as Linux (sysfs) or `lspci -tv` shows them: what NCCL's topology XML, which
/// NCCL makes from the same files, would list.
namespace ringside {

struct PciTopology {
  TopologyXml devices = {};
  std::optional<std::string> gpu = {};  ///< As lspci calls the first one: `A100 SXM4 40GB`.
  std::vector<std::string> notes =
      {};  ///< Whole sentences: what PCI does not show, and slots that are slower than they could be.
};

/// The devices below `system`, which is /sys or a copy of it. `cpu_vendor` as in /proc/cpuinfo, or empty. No
/// GPUs when there are none; never throws for files that are missing.
PciTopology pci_topology_of_sysfs(const std::filesystem::path& system, const std::string& cpu_vendor);

/// Whether a text looks like `lspci -tv`.
bool is_lspci_tree(std::string_view text);
PciTopology pci_topology_of_lspci(std::string_view text);

}  // namespace ringside
