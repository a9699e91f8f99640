#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sim/topology/link_kinds.hpp"
#include "sim/topology/network.hpp"
#include "sim/topology/pcie.hpp"

/// The inside of one node, planned once and then copied for every node of the machine
/// (ClusterTopology). GPUs, links and vertices are counted within the node.
namespace ringside {

/// Stands for the fabric between the nodes in Link::from and Link::to.
inline constexpr std::int32_t kFabric = -2;

/// The links of every group of so many nodes to the others, each way.
struct GroupLinks {
  int nodes = 1;
  LinkNumbers numbers = {};  ///< The group's way out and its way in, or the link of two groups.
  bool pairwise = false;
};

/// Appends one and returns its id.
std::int32_t add_link(std::vector<Link>& links, LinkKind kind, std::string name, const LinkNumbers& numbers,
                      std::int32_t from, std::int32_t to);

struct NodePlan {
  /// One vertex per GPU, the first `num_gpus` ones.
  explicit NodePlan(int num_gpus);

  std::int32_t add_link(LinkKind kind, std::string name, const LinkNumbers& numbers, std::int32_t from,
                        std::int32_t to);
  std::int32_t add_vertex(std::string label, VertexKind kind, std::int32_t attached_to = -1);

  int num_gpus = 0;
  std::vector<Link> links;
  std::vector<Vertex> vertices;
  /// Appends the links from GPU to GPU, which are two different ones. Empty until they are wired.
  std::function<void(int source, int target, std::vector<std::int32_t>& route)> append_route;
  std::vector<std::vector<std::int32_t>> leave;  ///< Per GPU: links on the way out, the NIC last.
  std::vector<std::vector<std::int32_t>> enter;  ///< Per GPU: links on the way in, the NIC first.
  std::vector<GroupLinks> groups;                ///< Smallest first; each is a multiple of the one before.
};

/// How people are told of a switch and its links: `NVLink switch`, `GPU 3` + ` NVLink up`.
struct SwitchNames {
  std::string vertex;
  std::string up;
  std::string down;
};

/// A link up and one down per GPU, to a non-blocking switch. `latency` of `port` is that of one crossing.
void wire_switch(NodePlan& plan, const SwitchNames& names, const LinkNumbers& port);

/// A private link between every pair of GPUs, in each direction. Takes links in proportion to GPUs squared.
void wire_mesh(NodePlan& plan, const std::string& cable, const LinkNumbers& pair);

/// One medium that every message crosses.
void wire_medium(NodePlan& plan, const LinkNumbers& medium);

/// Eight GPUs wired as in a DGX-1: `double_links` says whether pairs that have two links there have two here
/// (V100, 6 links per GPU) or one (P100, 4 links). Pairs without a link go through the neighbour of both that
/// leaves the widest path, the lowest such GPU.
void wire_hybrid_cube_mesh(NodePlan& plan, const std::string& cable, const LinkNumbers& link,
                           bool double_links);

/// GPUs of such a mesh, whose half there is, too.
inline constexpr int kCubeGpus = 8;

/// How many links join two GPUs of such a mesh.
int hybrid_cube_links(int source, int target, bool double_links);

/// All through PCIe.
void wire_pcie(NodePlan& plan, PcieTree tree);

/// GPUs 2i and 2i+1 have a bridge of their own; everything else goes through PCIe.
void wire_bridged_pairs(NodePlan& plan, const std::string& cable, const LinkNumbers& bridge, PcieTree tree);

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
