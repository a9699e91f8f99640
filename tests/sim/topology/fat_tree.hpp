#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/topology/link_kinds.hpp"
#include "sim/topology/network.hpp"

namespace ringside {

/// Two levels of switches: leaves with ranks below, each with `num_uplinks` cables to as many spine switches.
struct FatTreeShape {
  int num_ranks = 1;
  int ranks_per_leaf = 1;   ///< The last leaf may have fewer.
  int num_uplinks = 1;      ///< Per leaf; fewer than ranks_per_leaf = oversubscribed.
  LinkNumbers port = {};    ///< Between rank and leaf, one direction.
  LinkNumbers uplink = {};  ///< Between leaf and spine, one direction.
};

/// A rank's messages to other leaves take the uplink that its target's number chooses (destination mod k),
/// which spreads shifts by any distance evenly (E. Zahavi, G. Johnson, D. Kerbyson, M. Lang, "Optimized
/// InfiniBand fat-tree routing for shift all-to-all communication patterns", 2010).
class FatTreeTopology final : public Topology {
 public:
  explicit FatTreeTopology(const FatTreeShape& shape);

  std::span<const Link> links() const override { return links_; }
  void route(Rank source, Rank target, std::vector<std::int32_t>& route) const override;

 private:
  FatTreeShape shape_;
  std::vector<Link> links_;  ///< Up and down per rank, then up and down per leaf and uplink.
};

/// The whole network, ranks placed leaf after leaf, which is the best ring order. γ is 0.
Network fat_tree_network(const FatTreeShape& shape);

}  // namespace ringside
