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

}  // namespace

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
        copy.name = fmt::format("node {}: {}", node, link.name);
        copy.node = node;
      }
    }
  }
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
        copy.label = fmt::format("node {}: {}", node, vertex.label);
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
