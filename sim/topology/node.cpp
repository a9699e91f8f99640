#include "sim/topology/node.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "common/error.hpp"
#include "common/numbers.hpp"

namespace ringside {
namespace {

/// NVLinks between the GPUs of a DGX-1 with V100 (microsoft/msccl-tools, topologies/nvidia.py, dgx1()).
constexpr std::array<std::array<int, kCubeGpus>, kCubeGpus> kCubeLinks{{{0, 2, 1, 1, 2, 0, 0, 0},
                                                                        {2, 0, 1, 2, 0, 1, 0, 0},
                                                                        {1, 1, 0, 2, 0, 0, 2, 0},
                                                                        {1, 2, 2, 0, 0, 0, 0, 1},
                                                                        {2, 0, 0, 0, 0, 2, 1, 1},
                                                                        {0, 1, 0, 0, 2, 0, 1, 2},
                                                                        {0, 0, 2, 0, 1, 1, 0, 2},
                                                                        {0, 0, 0, 1, 1, 2, 2, 0}}};

int widest_neighbour(int source, int target, bool double_links) {
  int best = -1;
  int best_links = 0;
  for (int gpu = 0; gpu < kCubeGpus; ++gpu) {
    const int links =
        std::min(hybrid_cube_links(source, gpu, double_links), hybrid_cube_links(gpu, target, double_links));
    if (links > best_links) {
      best = gpu;
      best_links = links;
    }
  }
  RINGSIDE_CHECK(best >= 0, "two GPUs of a hybrid cube mesh have no neighbour in common");
  return best;
}

/// `links_of(source, target)` links between GPUs; else the way is through `neighbour_of(source, target)`.
template <typename LinksOf, typename NeighbourOf>
void wire_directly(NodePlan& plan, const std::string& cable, const LinkNumbers& link, const LinksOf& links_of,
                   const NeighbourOf& neighbour_of) {
  constexpr std::int32_t kNoLink = -1;
  const std::size_t num_gpus = at(plan.num_gpus);
  std::vector<std::int32_t> ids(num_gpus * num_gpus, kNoLink);
  for (int source = 0; source < plan.num_gpus; ++source) {
    for (int target = 0; target < plan.num_gpus; ++target) {
      if (const int links = links_of(source, target); links > 0) {
        ids[at(source) * num_gpus + at(target)] =
            plan.add_link(LinkKind::gpu_to_gpu, fmt::format("{} GPU {} to GPU {}", cable, source, target),
                          bundle(links, link), source, target);
      }
    }
  }
  plan.append_route = [num_gpus, neighbour_of, ids = std::move(ids)](int source, int target,
                                                                     std::vector<std::int32_t>& route) {
    const auto id = [&](int from, int to) { return ids[at(from) * num_gpus + at(to)]; };
    if (id(source, target) != kNoLink) {
      route.push_back(id(source, target));
      return;
    }
    const int neighbour = neighbour_of(source, target);
    route.push_back(id(source, neighbour));
    route.push_back(id(neighbour, target));
  };
}

void append_shifted(const std::vector<std::int32_t>& links, std::int32_t offset,
                    std::vector<std::int32_t>& route) {
  for (const std::int32_t link : links) {
    route.push_back(link + offset);
  }
}

std::string placed_on(std::int32_t node, const std::string& name) {
  return node < 0 ? name : fmt::format("node {}: {}", node, name);
}

}  // namespace

NodePlan::NodePlan(int gpus) : num_gpus(gpus), leave(at(gpus)), enter(at(gpus)) {
  for (int gpu = 0; gpu < num_gpus; ++gpu) {
    add_vertex(fmt::format("GPU {}", gpu), VertexKind::rank);
  }
}

std::int32_t add_link(std::vector<Link>& links, LinkKind kind, std::string name, const LinkNumbers& numbers,
                      std::int32_t from, std::int32_t to) {
  links.push_back({.name = std::move(name),
                   .kind = kind,
                   .latency = numbers.latency,
                   .capacity = numbers.capacity,
                   .from = from,
                   .to = to});
  return static_cast<std::int32_t>(links.size()) - 1;
}

std::int32_t NodePlan::add_link(LinkKind kind, std::string name, const LinkNumbers& numbers,
                                std::int32_t from, std::int32_t to) {
  return ringside::add_link(links, kind, std::move(name), numbers, from, to);
}

std::int32_t NodePlan::add_vertex(std::string label, VertexKind kind, std::int32_t attached_to) {
  vertices.push_back({.label = std::move(label), .kind = kind, .attached_to = attached_to});
  return static_cast<std::int32_t>(vertices.size()) - 1;
}

void wire_switch(NodePlan& plan, const SwitchNames& names, const LinkNumbers& port) {
  const std::int32_t vertex = plan.add_vertex(names.vertex, VertexKind::switching);
  const auto first = static_cast<std::int32_t>(plan.links.size());
  for (int gpu = 0; gpu < plan.num_gpus; ++gpu) {
    plan.add_link(LinkKind::gpu_up, fmt::format("GPU {}{}", gpu, names.up), port, gpu, vertex);
    plan.add_link(LinkKind::gpu_down, fmt::format("GPU {}{}", gpu, names.down), port, vertex, gpu);
  }
  plan.append_route = [first](int source, int target, std::vector<std::int32_t>& route) {
    route.push_back(first + 2 * source);
    route.push_back(first + 2 * target + 1);
  };
}

void wire_mesh(NodePlan& plan, const std::string& cable, const LinkNumbers& pair) {
  wire_directly(
      plan, cable, pair, [](int source, int target) { return source != target ? 1 : 0; },
      [](int, int) { return -1; });
}

void wire_medium(NodePlan& plan, const LinkNumbers& medium) {
  const std::int32_t vertex = plan.add_vertex("shared medium", VertexKind::medium);
  for (int gpu = 0; gpu < plan.num_gpus; ++gpu) {
    plan.vertices[at(gpu)].attached_to = vertex;
  }
  const std::int32_t link = plan.add_link(LinkKind::medium, "shared medium", medium, vertex, vertex);
  plan.append_route = [link](int, int, std::vector<std::int32_t>& route) { route.push_back(link); };
}

int hybrid_cube_links(int source, int target, bool double_links) {
  return std::min(kCubeLinks.at(at(source)).at(at(target)), double_links ? 2 : 1);
}

void wire_hybrid_cube_mesh(NodePlan& plan, const std::string& cable, const LinkNumbers& link,
                           bool double_links) {
  RINGSIDE_CHECK(plan.num_gpus == kCubeGpus || plan.num_gpus == kCubeGpus / 2,
                 "a hybrid cube mesh has eight GPUs, its half four");
  wire_directly(
      plan, cable, link,
      [double_links](int source, int target) { return hybrid_cube_links(source, target, double_links); },
      [double_links](int source, int target) { return widest_neighbour(source, target, double_links); });
}

void wire_pcie(NodePlan& plan, PcieTree tree) {
  plan.append_route = [tree = std::move(tree)](int source, int target, std::vector<std::int32_t>& route) {
    tree.append_gpu_to_gpu(source, target, route);
  };
}

void wire_bridged_pairs(NodePlan& plan, const std::string& cable, const LinkNumbers& bridge, PcieTree tree) {
  const auto first = static_cast<std::int32_t>(plan.links.size());
  for (int gpu = 0; gpu < plan.num_gpus; ++gpu) {
    const int other = gpu ^ 1;
    if (other < plan.num_gpus) {
      plan.add_link(LinkKind::gpu_to_gpu, fmt::format("{} GPU {} to GPU {}", cable, gpu, other), bridge, gpu,
                    other);
    }
  }
  plan.append_route = [first, tree = std::move(tree)](int source, int target,
                                                      std::vector<std::int32_t>& route) {
    if (source / 2 == target / 2) {
      route.push_back(first + source);
    } else {
      tree.append_gpu_to_gpu(source, target, route);
    }
  };
}

std::string name_of(const Link& link) { return placed_on(link.node, link.name); }
std::string name_of(const Vertex& vertex) { return placed_on(vertex.node, vertex.label); }

ClusterTopology::ClusterTopology(NodePlan plan, int num_nodes, int ranks_per_node)
    : plan_(std::move(plan)), num_nodes_(num_nodes), ranks_per_node_(ranks_per_node) {
  const auto vertices_per_node = static_cast<std::int32_t>(plan_.vertices.size());
  const std::int32_t fabric = vertices_per_node * num_nodes_;
  links_.reserve(plan_.links.size() * static_cast<std::size_t>(num_nodes_));
  for (std::int32_t node = 0; node < num_nodes_; ++node) {
    const auto placed = [&](std::int32_t vertex) {
      if (vertex < 0) {
        return vertex == kFabric ? fabric : vertex;  // The rest is not drawn.
      }
      return vertex + node * vertices_per_node;
    };
    for (const Link& link : plan_.links) {
      Link& copy = links_.emplace_back(link);
      copy.from = placed(link.from);
      copy.to = placed(link.to);
      if (num_nodes_ > 1) {
        copy.node = node;
      }
    }
  }
  add_groups(fabric);
}

void ClusterTopology::add_groups(std::int32_t fabric) {
  for (const GroupLinks& level : plan_.groups) {
    first_group_.push_back(static_cast<std::int32_t>(links_.size()));
    if (level.pairwise) {
      add_pairs(level, fabric);
      continue;
    }
    for (int first = 0; first < num_nodes_; first += level.nodes) {
      const std::string name = fmt::format("nodes {} to {}: uplinks", first, first + level.nodes - 1);
      add_link(links_, LinkKind::fabric_out, name + ", out", level.numbers, fabric, fabric);
      add_link(links_, LinkKind::fabric_in, name + ", in", level.numbers, fabric, fabric);
    }
  }
}

void ClusterTopology::add_pairs(const GroupLinks& level, std::int32_t fabric) {
  num_paired_ = (num_nodes_ - 1) / level.nodes + 1;
  for (int from = 0; from < num_paired_; ++from) {
    for (int to = 0; to < num_paired_; ++to) {
      if (to != from) {
        add_link(links_, LinkKind::fabric_out,
                 fmt::format("nodes from {} to nodes from {}", from * level.nodes, to * level.nodes),
                 level.numbers, fabric, fabric);
      }
    }
  }
}

/// The place of the link between two groups among these.
std::int32_t ClusterTopology::pair(int from, int to) const {
  return from * (num_paired_ - 1) + to - (to > from ? 1 : 0);
}

void ClusterTopology::route(Rank source, Rank target, std::vector<std::int32_t>& route) const {
  route.clear();
  if (source == target) {
    return;
  }
  const int source_node = source / ranks_per_node_;
  const int target_node = target / ranks_per_node_;
  const int source_gpu = source % ranks_per_node_;
  const int target_gpu = target % ranks_per_node_;
  const std::int32_t source_offset = source_node * links_per_node();
  if (source_node == target_node) {
    plan_.append_route(source_gpu, target_gpu, route);
    for (std::int32_t& link : route) {
      link += source_offset;
    }
    return;
  }
  append_shifted(plan_.leave[at(source_gpu)], source_offset, route);
  const auto group_of = [&](int node, std::size_t level) { return node / plan_.groups[level].nodes; };
  std::size_t levels = 0;  // Up to and without the level whose group both nodes are in.
  for (; levels < plan_.groups.size() && group_of(source_node, levels) != group_of(target_node, levels);
       ++levels) {
    if (plan_.groups[levels].pairwise) {
      route.push_back(first_group_[levels] +
                      pair(group_of(source_node, levels), group_of(target_node, levels)));
      break;
    }
    route.push_back(first_group_[levels] + 2 * group_of(source_node, levels));
  }
  while (levels > 0) {
    --levels;
    route.push_back(first_group_[levels] + 2 * group_of(target_node, levels) + 1);
  }
  append_shifted(plan_.enter[at(target_gpu)], target_node * links_per_node(), route);
}

std::vector<Vertex> ClusterTopology::vertices() const {
  std::vector<Vertex> vertices;
  const auto vertices_per_node = static_cast<std::int32_t>(plan_.vertices.size());
  for (int node = 0; node < num_nodes_; ++node) {
    for (const Vertex& vertex : plan_.vertices) {
      Vertex& copy = vertices.emplace_back(vertex);
      if (vertex.attached_to >= 0) {
        copy.attached_to += node * vertices_per_node;
      }
      if (num_nodes_ > 1) {
        copy.node = node;
      }
    }
  }
  if (num_nodes_ > 1) {
    vertices.push_back({.label = "fabric", .kind = VertexKind::fabric});
  }
  return vertices;
}

}  // namespace ringside
