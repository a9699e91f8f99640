#include "tests/sim/symmetry/trees.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "common/numbers.hpp"

namespace ringside::test {

namespace {

int ratio_up(int a, int b) { return (a + b - 1) / b; }

int one_of(std::mt19937& random, const std::vector<int>& values) { return values[random() % values.size()]; }

}  // namespace

Tree::Tree(const TreeShape& shape) : shape_(shape) {
  const int num_nodes = ratio_up(shape.num_ranks, shape.ranks_per_node);
  num_nics_ = num_nodes * shape.nics_per_node;
  const auto add = [this](const std::string& name, LinkKind kind, double latency, double capacity) {
    links_.push_back({.name = name + " up", .kind = kind, .latency = {latency}, .capacity = {capacity}});
    links_.push_back({.name = name + " down", .kind = kind, .latency = {latency}, .capacity = {capacity}});
  };
  for (Rank rank = 0; rank < shape.num_ranks; ++rank) {
    add(fmt::format("rank {}", rank), LinkKind::gpu_up, shape.port_latency, shape.port);
  }
  for (int nic = 0; nic < num_nics_; ++nic) {
    add(fmt::format("NIC {}", nic), LinkKind::nic_out, shape.nic_latency, shape.nic);
    nic_of_.push_back(nic);
  }
  for (int pod = 0; pod < ratio_up(num_nodes, shape.nodes_per_pod); ++pod) {
    add(fmt::format("pod {}", pod), LinkKind::switch_to_switch, shape.uplink_latency, shape.uplink);
  }
}

int Tree::nic_of(Rank rank) const {
  const int node = rank / shape_.ranks_per_node;
  const int place = rank % shape_.ranks_per_node;
  return nic_of_[at(node * shape_.nics_per_node + place % shape_.nics_per_node)];
}

void Tree::route(Rank source, Rank target, std::vector<std::int32_t>& route) const {
  const int source_node = source / shape_.ranks_per_node;
  const int target_node = target / shape_.ranks_per_node;
  route = {2 * source};
  if (source_node != target_node) {
    const int nics = shape_.num_ranks;
    route.push_back(2 * (nics + nic_of(source)));
    const int source_pod = source_node / shape_.nodes_per_pod;
    const int target_pod = target_node / shape_.nodes_per_pod;
    if (source_pod != target_pod) {
      route.push_back(2 * (nics + num_nics_ + source_pod));
      route.push_back(2 * (nics + num_nics_ + target_pod) + 1);
    }
    route.push_back(2 * (nics + nic_of(target)) + 1);
  }
  route.push_back(2 * target + 1);
}

Network tree_network(const TreeShape& shape, double reduction) {
  Network network;
  network.num_ranks = shape.num_ranks;
  network.topology = std::make_unique<Tree>(shape);
  network.reduction.assign(at(shape.num_ranks), SecondsPerByte{reduction});
  network.ranks_per_node = shape.num_ranks > shape.ranks_per_node ? shape.ranks_per_node : 0;
  return network;
}

Network any_tree(std::mt19937& random, int most_ranks) {
  TreeShape shape;
  shape.ranks_per_node = one_of(random, {1, 2, 3, 4, 8});
  const int most_nodes = std::max(1, most_ranks / shape.ranks_per_node);
  int nodes = 1 + static_cast<int>(random() % at(most_nodes));
  if (random() % 2 == 0) {
    nodes = one_of(random, {1, 2, 4, 8});
    nodes = std::min(nodes, most_nodes);
  }
  const bool full = random() % 4 != 0;
  shape.num_ranks = std::max(2, nodes * shape.ranks_per_node - (full ? 0 : 1));
  shape.nics_per_node = one_of(random, {1, shape.ranks_per_node, std::max(1, shape.ranks_per_node / 2)});
  shape.nodes_per_pod = one_of(random, {1, 2, 3, 4});
  shape.port = 1e10 * one_of(random, {1, 5, 20});
  shape.nic = 1e9 * one_of(random, {5, 12, 50});
  shape.uplink = shape.nic * one_of(random, {1, 2, 3, 16});
  shape.uplink_latency = random() % 2 == 0 ? 0 : 7e-7;
  const double reduction = random() % 2 == 0 ? 0 : 1e-12 * one_of(random, {3, 40, 500});
  auto tree = std::make_unique<Tree>(shape);
  Network network = tree_network(shape, reduction);
  for (unsigned faults = random() % 4; faults > 1; --faults) {
    const auto rank = static_cast<std::size_t>(random()) % at(shape.num_ranks);
    switch (random() % 4) {
      case 0:
        tree->link(random() % tree->links().size()).capacity.value /= 3;
        break;
      case 1:
        network.slowdown.assign(at(shape.num_ranks), 1);
        network.slowdown[rank] = 1.5;
        break;
      case 2:
        network.reduction[rank].value *= 2;
        break;
      default:
        if (shape.nics_per_node > 1) {
          tree->replace_nic(0, 1);
        }
    }
  }
  network.topology = std::move(tree);
  return network;
}

}  // namespace ringside::test
