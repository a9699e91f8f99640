#include "study/logs/topology.hpp"

#include <algorithm>

#include "common/failures.hpp"
#include "import/machine/topology_xml.hpp"
#include "sim/topology/gpu_models.hpp"

namespace ringside::study {

TopologyMachine machine_of_pci(const PciTopology& pci, const std::string& name,
                               const std::optional<std::string>& gpu) {
  // lspci calls `A100 SXM4 40GB` what the catalogue writes with dashes.
  std::optional<std::string> model = gpu ? gpu : pci.gpu;
  if (model && !find_gpu_sheet(*model)) {
    std::string dashed = *model;
    std::replace(dashed.begin(), dashed.end(), ' ', '-');
    model = find_gpu_sheet(dashed) ? dashed : model;
  }
  TopologyMachine result = machine_of_topology_xml(pci.devices, name, model);
  result.notes.insert(result.notes.end(), pci.notes.begin(), pci.notes.end());
  return result;
}

bool holds_topology(std::string_view text) {
  return is_topology_xml(text) || holds_topology_matrix(text) || is_lspci_tree(text);
}

TopologyMachine machine_of_text(std::string_view text, const std::string& name,
                                const std::optional<std::string>& gpu) {
  if (is_topology_xml(text)) {
    return machine_of_topology_xml(text, name, gpu);
  }
  if (!is_lspci_tree(text) || holds_topology_matrix(text)) {
    return machine_of_topology(text, name, gpu);
  }
  const PciTopology pci = pci_topology_of_lspci(text);
  if (pci.devices.gpus.empty()) {
    throw bad_input("{}: lspci's tree names no GPU of NVIDIA or AMD; is it of a machine with GPUs?", name);
  }
  return machine_of_pci(pci, name, gpu);
}

}  // namespace ringside::study
