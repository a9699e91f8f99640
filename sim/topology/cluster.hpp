#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/topology/network.hpp"
#include "sim/topology/node.hpp"

namespace ringside {

/// Nodes that are all alike, with r ranks each on their first GPUs. Rank k is GPU k mod r of node k / r. Memory grows with ranks; routes are put together on
/// demand from the plan of one node.
class ClusterTopology final : public Topology {
 public:
  /// `plan` has a wiring, or one GPU; ways out and in, or there is one node.
  ClusterTopology(NodePlan plan, int num_nodes, int ranks_per_node);

  std::span<const Link> links() const override { return links_; }
  void route(Rank source, Rank target, std::vector<std::int32_t>& route) const override;

  /// The nodes' vertices, node after node, then the fabric if there is more than one node.
  std::vector<Vertex> vertices() const;

 private:
  std::int32_t links_per_node() const { return static_cast<std::int32_t>(plan_.links.size()); }

  NodePlan plan_;
  int num_nodes_;
  int ranks_per_node_;
  std::vector<Link> links_;
};

}  // namespace ringside
