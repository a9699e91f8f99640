#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/topology/network.hpp"

namespace ringside {

/// Links between vertices as somebody listed them. A message takes the path of least latency, among those the
/// one with the fewest links, among those the one listed first; ranks and switches pass on alike. Routes are
/// worked out once: memory grows with ranks times vertices.
class GraphTopology final : public Topology {
 public:
  struct Cable {
    std::int32_t from = 0;
    std::int32_t to = 0;
    std::int32_t forward = 0;   ///< Id of the link from `from` to `to`.
    std::int32_t backward = 0;  ///< Id of the link back; the same for a half-duplex cable.
  };

  /// Vertices 0 … num_ranks−1 are the ranks.
  GraphTopology(std::vector<Link> links, std::span<const Cable> cables, int num_vertices, int num_ranks);

  std::span<const Link> links() const override { return links_; }
  void route(Rank source, Rank target, std::vector<std::int32_t>& route) const override;

 private:
  struct Edge {
    std::int32_t to = 0;
    std::int32_t link = 0;
  };
  /// The last step of the path to a vertex.
  struct Step {
    std::int32_t from = -1;
    std::int32_t link = -1;  ///< -1 = no path.
  };
  std::vector<Step> shortest_paths(std::int32_t source, const std::vector<std::vector<Edge>>& edges) const;

  std::vector<Link> links_;
  std::vector<std::vector<Step>> paths_;  ///< Per rank, per vertex.
};

}  // namespace ringside
