#include "tests/sim/topology/fat_tree.hpp"

#include <fmt/format.h>

#include "common/error.hpp"

namespace ringside {

namespace {

int num_leaves(const FatTreeShape& shape) {
  return (shape.num_ranks + shape.ranks_per_leaf - 1) / shape.ranks_per_leaf;
}

// Vertices: ranks, leaves, spines.
std::int32_t leaf_vertex(const FatTreeShape& shape, int leaf) { return shape.num_ranks + leaf; }
std::int32_t spine_vertex(const FatTreeShape& shape, int spine) {
  return shape.num_ranks + num_leaves(shape) + spine;
}

}  // namespace

FatTreeTopology::FatTreeTopology(const FatTreeShape& shape) : shape_(shape) {
  if (shape.num_ranks < 1 || shape.ranks_per_leaf < 1 || shape.num_uplinks < 1 ||
      shape.port.capacity.value <= 0 || shape.uplink.capacity.value <= 0) {
    throw Error(ErrorKind::bad_input,
                "a fat tree needs at least one rank, rank per leaf and uplink, and capacities");
  }
  const auto add = [&](LinkKind kind, std::string name, const LinkNumbers& numbers, std::int32_t from,
                       std::int32_t to) {
    links_.push_back({.name = std::move(name),
                      .kind = kind,
                      .latency = numbers.latency,
                      .capacity = numbers.capacity,
                      .from = from,
                      .to = to});
  };
  for (Rank rank = 0; rank < shape.num_ranks; ++rank) {
    const std::int32_t leaf = leaf_vertex(shape, rank / shape.ranks_per_leaf);
    add(LinkKind::gpu_up, fmt::format("rank {} up", rank), shape.port, rank, leaf);
    add(LinkKind::gpu_down, fmt::format("rank {} down", rank), shape.port, leaf, rank);
  }
  for (int leaf = 0; leaf < num_leaves(shape); ++leaf) {
    for (int uplink = 0; uplink < shape.num_uplinks; ++uplink) {
      add(LinkKind::switch_to_switch, fmt::format("leaf {} uplink {} up", leaf, uplink), shape.uplink,
          leaf_vertex(shape, leaf), spine_vertex(shape, uplink));
      add(LinkKind::switch_to_switch, fmt::format("leaf {} uplink {} down", leaf, uplink), shape.uplink,
          spine_vertex(shape, uplink), leaf_vertex(shape, leaf));
    }
  }
}

void FatTreeTopology::route(Rank source, Rank target, std::vector<std::int32_t>& route) const {
  route.clear();
  if (source == target) {
    return;
  }
  route.push_back(2 * source);
  const int source_leaf = source / shape_.ranks_per_leaf;
  const int target_leaf = target / shape_.ranks_per_leaf;
  if (source_leaf != target_leaf) {
    const int uplink = target % shape_.num_uplinks;
    const auto cable = [&](int leaf) { return 2 * (shape_.num_ranks + leaf * shape_.num_uplinks + uplink); };
    route.push_back(cable(source_leaf));
    route.push_back(cable(target_leaf) + 1);
  }
  route.push_back(2 * target + 1);
}

Network fat_tree_network(const FatTreeShape& shape) {
  Network network;
  network.num_ranks = shape.num_ranks;
  network.topology = std::make_unique<FatTreeTopology>(shape);
  network.reduction.resize(static_cast<std::size_t>(shape.num_ranks));
  for (Rank rank = 0; rank < shape.num_ranks; ++rank) {
    network.vertices.push_back({.label = fmt::format("rank {}", rank), .kind = VertexKind::rank});
  }
  for (int leaf = 0; leaf < num_leaves(shape); ++leaf) {
    network.vertices.push_back({.label = fmt::format("leaf {}", leaf), .kind = VertexKind::switching});
  }
  for (int spine = 0; spine < shape.num_uplinks; ++spine) {
    network.vertices.push_back({.label = fmt::format("spine {}", spine), .kind = VertexKind::switching});
  }
  return network;
}

}  // namespace ringside
