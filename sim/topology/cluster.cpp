#include "sim/topology/cluster.hpp"

#include <utility>

#include <fmt/format.h>

namespace ringside {

namespace {

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
      for (const bool out : {true, false}) {
        links_.push_back({.name = name + (out ? ", out" : ", in"),
                          .kind = out ? LinkKind::fabric_out : LinkKind::fabric_in,
                          .latency = level.numbers.latency,
                          .capacity = level.numbers.capacity,
                          .from = fabric,
                          .to = fabric});
      }
    }
  }
}

void ClusterTopology::add_pairs(const GroupLinks& level, std::int32_t fabric) {
  num_paired_ = (num_nodes_ - 1) / level.nodes + 1;
  for (int from = 0; from < num_paired_; ++from) {
    for (int to = 0; to < num_paired_; ++to) {
      if (to == from) {
        continue;
      }
      links_.push_back(
          {.name = fmt::format("nodes from {} to nodes from {}", from * level.nodes, to * level.nodes),
           .kind = LinkKind::fabric_out,
           .latency = level.numbers.latency,
           .capacity = level.numbers.capacity,
           .from = fabric,
           .to = fabric});
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
  append_shifted(plan_.leave[static_cast<std::size_t>(source_gpu)], source_offset, route);
  std::size_t levels = 0;  // Up to and without the level whose group both nodes are in.
  while (levels < plan_.groups.size() &&
         source_node / plan_.groups[levels].nodes != target_node / plan_.groups[levels].nodes) {
    if (plan_.groups[levels].pairwise) {
      const int nodes = plan_.groups[levels].nodes;
      route.push_back(first_group_[levels] + pair(source_node / nodes, target_node / nodes));
      break;
    }
    route.push_back(first_group_[levels] + 2 * (source_node / plan_.groups[levels].nodes));
    ++levels;
  }
  while (levels > 0) {
    --levels;
    route.push_back(first_group_[levels] + 2 * (target_node / plan_.groups[levels].nodes) + 1);
  }
  append_shifted(plan_.enter[static_cast<std::size_t>(target_gpu)], target_node * links_per_node(), route);
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
