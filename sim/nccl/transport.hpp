#pragma once

#include <optional>
#include <string>

#include "scenario/machine/machine.hpp"

/// How NCCL gets bytes from GPU to GPU over PCIe: from one's memory to the other's, or through host memory.
namespace ringside {

/// What NCCL does between the GPUs of one node, or how likely it does where the description leaves it open.
struct PcieTransport {
  double peer_to_peer = 1;  ///< Probability; 0 = through host memory, 1 = peer to peer.
  std::string why = {};     ///< A clause that follows the transport's name: `because …`.
  /// What would settle it, as a question and the key that answers it; empty when nothing is open.
  std::string question = {};
  std::string answer = {};

  bool operator==(const PcieTransport&) const = default;
};

struct PcieQuestion {
  int gpus = 2;                            ///< That NCCL sees in a node.
  bool same_switch = false;                ///< All below the same PCIe switches.
  bool amd_gpus = false;                   ///< RCCL has a rule of its own.
  std::optional<bool> stated = {};         ///< `intra.peer_to_peer`: counts more than any rule.
  std::optional<bool> driver_allows = {};  ///< What the catalogue says of the card.
  std::optional<CpuVendor> cpu = {};
  std::optional<std::string> version = {};  ///< Version of NCCL.
};

/// NCCL's default level (ncclTopoCheckP2p in src/graph/paths.cc): up to 2.23.3 any distance on AMD's x86 and
/// the same PCIe switches elsewhere; from 2.23.4 on AMD any distance for two GPUs and the same switches for
/// more. NCCL_P2P_LEVEL and NCCL_P2P_DISABLE are stated as `peer_to_peer`.
PcieTransport pcie_transport(const PcieQuestion& question);

/// Who makes a machine's CPUs: what it says, or what the name of the model tells (`EPYC`, `Xeon`, `Grace`).
std::optional<CpuVendor> cpu_vendor(const Machine& machine);

/// Whether `2.23.4` is at least `major.minor.patch`; none for other texts. `2.23` is 2.23.0.
std::optional<bool> is_at_least(const std::string& version, int major, int minor, int patch);

}  // namespace ringside
