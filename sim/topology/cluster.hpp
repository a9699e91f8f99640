#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/topology/network.hpp"
#include "sim/topology/node.hpp"

namespace ringside {

/// Like nodes with r ranks each on their first GPUs, in groups of groups if planned. Rank k is GPU k mod r of
/// node k / r. Memory grows with ranks; routes are put together on
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
  void add_groups(std::int32_t fabric);
  void add_pairs(const GroupLinks& level, std::int32_t fabric);
  std::int32_t pair(int from, int to) const;

  NodePlan plan_;
  int num_paired_ = 0;  ///< Groups that have a link for every two.
  int num_nodes_;
  int ranks_per_node_;
  std::vector<Link>
      links_;  ///< The nodes', then every group's out and in, by level; then those of two groups.
  std::vector<std::int32_t> first_group_;  ///< By level: the link out of its first group.
};

}  // namespace ringside
