#pragma once

#include <optional>
#include <string>
#include <variant>

#include "scenario/machine/machine.hpp"
#include "sim/nccl/parameters.hpp"
#include "sim/nccl/transport.hpp"

/// A machine and a number of ranks as NCCL's time model sees them.
namespace ringside {

enum class NcclAlgorithm { ring, tree, nvls };
enum class NcclProtocol { ll, ll128, simple };

/// As NCCL_ALGO and NCCL_PROTO spell them.
constexpr auto spellings_of(NcclAlgorithm /*any*/) {
  using enum NcclAlgorithm;
  return std::to_array<Spelling<NcclAlgorithm>>({{ring, "Ring"}, {tree, "Tree"}, {nvls, "NVLS"}});
}
constexpr auto spellings_of(NcclProtocol /*any*/) {
  using enum NcclProtocol;
  return std::to_array<Spelling<NcclProtocol>>({{ll, "LL"}, {ll128, "LL128"}, {simple, "Simple"}});
}

enum class GpuLink { none, nvswitch, nvlink, xgmi, pcie };

struct NcclSystem {
  int ranks = 2;
  int nodes = 1;
  Vendor vendor = Vendor::nvidia;
  Architecture architecture = Architecture::ampere;
  // Inside a node.
  GpuLink link = GpuLink::none;  ///< none: one GPU per node.
  double link_rate = 0;          ///< GB/s of one GPU, one direction, data sheet.
  int bridge_links = 0;          ///< The data sheet's, for an NVLink bridge of uncounted links.
  double measured_rate = 0;      ///< The same as the machine says it was measured; 0 = it does not say.
  /// nvlink, nvswitch, xgmi: what was measured, of what such links usually reach.
  double link_speed = 1;
  /// pcie: GB/s that the slowest hop gets when one ring of copies goes through the GPUs of a node, by the
  /// same links that schedules are predicted with (build_network()), peer to peer and through host memory.
  double peer_ring_rate = 0;
  double host_ring_rate = 0;
  PcieTransport transport = {};  ///< pcie
  bool bridged_pairs = false;    ///< pcie, with NVLink bridges between pairs of cards
  // Between nodes.
  InterKind network = InterKind::custom;
  int efa_generation = 0;   ///< 0 = not EFA.
  double network_rate = 0;  ///< GB/s of a node, one direction, data sheet; 0 on one node.
  int nics = 0;             ///< Per node.
  bool gpudirect = true;
  // Software.
  std::optional<NcclAlgorithm> algorithm = {};  ///< Forced.
  std::optional<NcclProtocol> protocol = {};    ///< Forced.
  bool without_nvls = false;                    ///< `^NVLS`
  bool single_process = false;
  bool before_2_9 = false;  ///< NCCL; RCCL never is.

  double gpus_per_node() const { return static_cast<double>(ranks) / nodes; }
  /// Whether the switches of a node can reduce.
  bool has_nvls() const;
  MachineClass machine_class() const;
  NcclKind kind() const;
  /// How far such a machine may be off, over others of its kind: GPUs that share host memory; nodes without
  /// an NVSwitch and NCCL before 2.9 (held out 66 % of measurements were inside, with a switch 99 %).
  double uncertainty() const;
};

/// The system, or why NCCL's behaviour there is not modelled. Throws Error{bad_input} for a GPU that the
/// catalogue does not know and for a description that contradicts itself.
std::variant<NcclSystem, std::string> nccl_system(const Machine& machine, int ranks);

}  // namespace ringside
