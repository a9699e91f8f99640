#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "import/machine/pci_devices.hpp"
#include "scenario/machine/topology_matrix.hpp"

/// What a machine is, from somebody's text of it.
namespace ringside::study {

/// Whether a text is one that machine_of_text() reads.
bool holds_topology(std::string_view text);

/// From the matrix of nvidia-smi topo -m, NCCL's topology XML, or `lspci -tv`. `gpu` is the model of the
/// GPUs, where it is known. Throws Error{bad_input}.
TopologyMachine machine_of_text(std::string_view text, const std::string& name,
                                const std::optional<std::string>& gpu);

/// The same from a tree of PCI devices.
TopologyMachine machine_of_pci(const PciTopology& pci, const std::string& name,
                               const std::optional<std::string>& gpu);

/// The cloud instance's type or server's name, if local files say it and `ringside list machines` has it.
struct Instance {
  std::string machine = {};  ///< `p4d.24xlarge`
  std::string source = {};   ///< The file that says it.
};

}  // namespace ringside::study
