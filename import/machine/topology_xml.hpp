#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/machine/topology_matrix.hpp"

/// NCCL's topology XML: what NCCL_TOPO_DUMP_FILE writes, and the files that clouds give to NCCL_TOPO_FILE.
namespace ringside {

/// What the file lists, counted.
struct TopologyXml {
  struct Gpu {
    std::string pci_device = {};  ///< `0x10de:0x20b0`
    std::string link_speed = {};  ///< The slot runs at: `16.0 GT/s PCIe`
    int lanes = 0;
    int cpu = 0;                  ///< Index of the <cpu> it hangs on.
    int pcie_switch = -1;         ///< The lowest switch that it shares with other GPUs; −1 = none.
    std::vector<int> links = {};  ///< NVLinks or xGMIs to each target.
    bool to_switches = false;     ///< Targets are NVSwitches.
  };
  struct Net {
    std::string name = {};
    double speed_mbps = 0;
    std::string pci_class = {};  ///< The card is: `0x020700` for InfiniBand.
    std::string pci_device = {};
    bool gpudirect = false;
  };
  std::vector<Gpu> gpus = {};  ///< Also those that a virtual machine's file lists as PCI devices only.
  std::vector<Net> nets = {};
  int gpu_elements = 0;
  int nvlink_elements = 0;
  int xgmi_elements = 0;
  int pci_nics = 0;  ///< PCI devices of a network.
  int cpus = 0;
  std::string cpu_vendor = {};  ///< `AuthenticAMD`
};

/// Whether a PCI class, such as `0x030200`, is of GPUs.
bool is_gpu_class(std::string_view pci_class);
/// The number in front of a unit: `16.0 GT/s PCIe`; 0 where there is none.
double number_before_unit(std::string_view text);

/// Whether a text looks like one.
bool is_topology_xml(std::string_view text);

/// The machine it describes: links between GPUs, switches, sockets, NICs with rates. `gpu` names the model
/// where its PCI number is not among those known. Throws Error{bad_input} without GPUs or for unknown wiring.
TopologyMachine machine_of_topology_xml(const TopologyXml& xml, const std::string& name,
                                        const std::optional<std::string>& gpu);
/// The same from the file's text. Throws also `name:line: …` for one that is cut or no such XML.
TopologyMachine machine_of_topology_xml(std::string_view text, const std::string& name,
                                        const std::optional<std::string>& gpu);

}  // namespace ringside
