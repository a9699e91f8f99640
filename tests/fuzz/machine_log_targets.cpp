// What other tools say of a machine: matrices of copies, topologies, PCI devices.

#include <algorithm>
#include <array>

#include "import/machine/copy_matrices.hpp"
#include "import/machine/pci_devices.hpp"
#include "import/machine/topology_xml.hpp"
#include "scenario/machine/topology_matrix.hpp"
#include "scenario/scenario.hpp"
#include "sim/topology/network.hpp"
#include "target.hpp"

namespace ringside::fuzz {
namespace {

void use(const Machine& machine) {
  constexpr int kMostRanks = 64;
  const std::string written = to_yaml(machine);
  require(to_yaml(parse_machine(written, machine.name)) == written, "a machine does not read back");
  build_network(machine, std::min(machine.gpus_per_node.value_or(2), kMostRanks));
}

void read_matrices(std::string_view text) {
  const CopyMatrices copies = read_copy_matrices(text, "x.log");
  pair_rates(copies);
  for (const CopyPair& pair : copy_pairs(copies)) {
    require(pair.from >= 0 && pair.to >= 0, "a pair of no GPUs");
  }
}

void read_xml(std::string_view text) {
  is_topology_xml(text);
  use(machine_of_topology_xml(text, "x.xml", "L40S").machine);
}

void read_topology(std::string_view text) {
  holds_topology_matrix(text);
  use(machine_of_topology(text, "x.txt", "A100-SXM4-40GB").machine);
}

void read_devices(std::string_view text) {
  is_lspci_tree(text);
  const PciTopology found = pci_topology_of_lspci(text);
  if (!found.devices.gpus.empty()) {
    use(machine_of_topology_xml(found.devices, "lspci", "L40S").machine);
  }
}

constexpr std::array kTargets = {
    Target{"copy_matrices", read_matrices},
    Target{"topology_xml", read_xml},
    Target{"topology_matrix", read_topology},
    Target{"lspci", read_devices},
};

}  // namespace

std::span<const Target> machine_log_targets() { return kTargets; }

}  // namespace ringside::fuzz
