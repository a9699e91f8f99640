#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/topology/link_kinds.hpp"
#include "sim/topology/network.hpp"

namespace ringside {

struct NodePlan;

/// What a machine says of its PCIe slots.
struct PcieWords {
  int generation = 4;
  int lanes = 16;
  std::optional<int> gpus_per_switch = {};  ///< None = each GPU hangs on the host bridge itself.
  int sockets = 1;
  bool peer_to_peer = true;  ///< Between GPUs.
  bool gpudirect = true;     ///< Between GPUs and NICs.
  int num_nics = 0;
  /// GPU-to-GPU traffic has other links; only NICs are on PCIe, each at a switch beside its GPUs.
  bool only_for_nics = false;
  /// A slot's measured speed over that of such slots (measured_speed()); none = not measured. Switches, host
  /// bridges and staging follow; memory and other sockets do not.
  std::optional<double> speed = {};
};

/// The PCIe tree of one node: slot → (switch → its uplink) → host bridge of the socket → socket-to-socket
/// link. Peer-to-peer traffic crosses the host bridge once per socket, if it leaves its switch at all. Staged
/// traffic (no peer-to-peer) crosses host memory twice. Between two GPUs it also takes part in the staging of
/// both, which a GPU's sending and receiving share: published copies without
/// peer-to-peer hardly gain when both directions go at once, whatever the memory behind them is.
class PcieTree {
 public:
  /// Adds its links and vertices to `plan`. Throws Error{bad_input} for a switch of two sockets.
  PcieTree(NodePlan& plan, const PcieWords& words, SpecNumbers numbers);

  void append_gpu_to_gpu(int source, int target, std::vector<std::int32_t>& route) const;
  /// From the GPU to the NIC's slot, without the NIC.
  void append_gpu_to_nic(int gpu, int nic, std::vector<std::int32_t>& route) const;
  void append_nic_to_gpu(int nic, int gpu, std::vector<std::int32_t>& route) const;

  /// Where NIC `nic` sits: with its GPUs when they share a switch, else on the first one's host bridge.
  std::int32_t nic_vertex(int nic) const;
  /// Latency of a GPU's slot, one crossing.
  Seconds slot_latency() const { return slot_latency_; }

 private:
  /// A GPU, or a NIC (which has no slot links of its own).
  struct Place {
    int socket = 0;
    int pcie_switch = -1;  ///< -1 = on the host bridge.
  };

  void add_sockets(NodePlan& plan, SpecNumbers numbers);
  void add_switches(NodePlan& plan, SpecNumbers numbers);
  void add_slots(NodePlan& plan, SpecNumbers numbers);
  LinkSheet slot(bool direct) const;
  LinkSheet at_speed(const LinkSheet& usual) const { return scaled(usual, words_.speed.value_or(1)); }
  std::int32_t vertex_of(const Place& place) const;
  /// Appends what lies between two slots.
  void append_between(const Place& source, const Place& target, bool staged,
                      std::vector<std::int32_t>& route) const;

  PcieWords words_;
  Seconds slot_latency_;
  std::vector<Place> gpus_;
  std::vector<Place> nics_;
  std::vector<std::int32_t> slot_up_;    ///< Per GPU.
  std::vector<std::int32_t> slot_down_;  ///< Per GPU.
  std::vector<std::int32_t> staging_;    ///< Per GPU; empty where GPUs are peers.
  std::vector<std::int32_t> switch_vertex_;
  std::vector<std::int32_t> switch_up_;    ///< Per switch; empty when uplinks are not modelled.
  std::vector<std::int32_t> switch_down_;  ///< Per switch.
  std::vector<std::int32_t> socket_vertex_;
  std::vector<std::int32_t> bridge_;       ///< Per socket; empty when nothing is peer to peer.
  std::vector<std::int32_t> memory_;       ///< Per socket; empty when nothing is staged.
  std::vector<std::int32_t> socket_link_;  ///< source · sockets + target; -1 on the diagonal.
};

// Things are spread over as many shares or fewer in order: GPUs over sockets and NICs.

/// The share that has the thing of this number.
int share_of(int thing, int num_things, int num_shares);
/// The first thing that a share has.
int first_of_share(int share, int num_things, int num_shares);

}  // namespace ringside
