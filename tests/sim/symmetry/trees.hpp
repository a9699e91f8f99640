#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "sim/topology/network.hpp"

/// Machines as large ones are built: ranks in nodes, nodes in pods, pods under one core.
namespace ringside::test {

struct TreeShape {
  int num_ranks = 1;
  int ranks_per_node = 8;
  int nics_per_node = 8;  ///< Ranks share them in turn.
  int nodes_per_pod = 4;
  double port = 1e11;    ///< Bytes per second of a rank inside its node, each way.
  double nic = 1e10;     ///< The same of a NIC.
  double uplink = 1e11;  ///< The same of a pod.
  double port_latency = 1e-6;
  double nic_latency = 2e-6;
  double uplink_latency = 5e-7;
};

/// Links: up and down of each rank, of each NIC, of each pod, in this order.
class Tree final : public Topology {
 public:
  explicit Tree(const TreeShape& shape);

  std::span<const Link> links() const override { return links_; }
  void route(Rank source, Rank target, std::vector<std::int32_t>& route) const override;
  /// Messages of a NIC take this one instead: it is missing.
  void replace_nic(int missing, int by) { nic_of_[static_cast<std::size_t>(missing)] = by; }
  Link& link(std::size_t id) { return links_[id]; }

 private:
  int nic_of(Rank rank) const;

  TreeShape shape_;
  int num_nics_ = 0;
  std::vector<int> nic_of_;
  std::vector<Link> links_;
};

/// The tree with γ for every rank.
Network tree_network(const TreeShape& shape, double reduction = 0);

/// Any tree, with up to three faults: a slow link, a straggler, a slowly reducing rank, a missing NIC.
Network any_tree(std::mt19937& random, int most_ranks);

}  // namespace ringside::test
