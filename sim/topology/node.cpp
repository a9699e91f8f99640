#include "sim/topology/node.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "common/error.hpp"
#include "common/index.hpp"

namespace ringside {

namespace {

class SwitchWiring final : public NodeWiring {
 public:
  /// Up and down links of GPU 0; those of the next GPUs follow two by two.
  explicit SwitchWiring(std::int32_t first) : first_(first) {}
  void append_route(int source, int target, std::vector<std::int32_t>& route) const override {
    route.push_back(first_ + 2 * source);
    route.push_back(first_ + 2 * target + 1);
  }

 private:
  std::int32_t first_;
};

class MediumWiring final : public NodeWiring {
 public:
  explicit MediumWiring(std::int32_t medium) : medium_(medium) {}
  void append_route(int /*source*/, int /*target*/, std::vector<std::int32_t>& route) const override {
    route.push_back(medium_);
  }

 private:
  std::int32_t medium_;
};

/// Direct links, and for pairs without one the GPU between.
class DirectWiring final : public NodeWiring {
 public:
  static constexpr std::int32_t kNoLink = -1;
  explicit DirectWiring(int num_gpus)
      : num_gpus_(num_gpus), link_(at(num_gpus) * at(num_gpus), kNoLink), through_(link_.size(), -1) {}

  void set_link(int source, int target, std::int32_t link) { link_[pair(source, target)] = link; }
  void set_through(int source, int target, int neighbour) { through_[pair(source, target)] = neighbour; }

  void append_route(int source, int target, std::vector<std::int32_t>& route) const override {
    const std::int32_t link = link_[pair(source, target)];
    if (link != kNoLink) {
      route.push_back(link);
      return;
    }
    const int neighbour = through_[pair(source, target)];
    route.push_back(link_[pair(source, neighbour)]);
    route.push_back(link_[pair(neighbour, target)]);
  }

 private:
  std::size_t pair(int source, int target) const { return at(source) * at(num_gpus_) + at(target); }

  int num_gpus_;
  std::vector<std::int32_t> link_;
  std::vector<int> through_;
};

class PcieWiring final : public NodeWiring {
 public:
  explicit PcieWiring(PcieTree tree) : tree_(std::move(tree)) {}
  void append_route(int source, int target, std::vector<std::int32_t>& route) const override {
    tree_.append_gpu_to_gpu(source, target, route);
  }

 private:
  PcieTree tree_;
};

class BridgedPairsWiring final : public NodeWiring {
 public:
  /// `first` is the link from GPU 0 to GPU 1; the link back follows, then the next pair.
  BridgedPairsWiring(std::int32_t first, PcieTree tree) : first_(first), tree_(std::move(tree)) {}
  void append_route(int source, int target, std::vector<std::int32_t>& route) const override {
    if (source / 2 == target / 2) {
      route.push_back(first_ + source);
    } else {
      tree_.append_gpu_to_gpu(source, target, route);
    }
  }

 private:
  std::int32_t first_;
  PcieTree tree_;
};

LinkNumbers times(int num_links, LinkNumbers link) {
  link.capacity.value *= num_links;
  return link;
}

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
    int links = std::min(kCubeLinks[at(source)][at(gpu)], kCubeLinks[at(gpu)][at(target)]);
    links = double_links ? links : std::min(links, 1);
    if (links > best_links) {
      best = gpu;
      best_links = links;
    }
  }
  RINGSIDE_CHECK(best >= 0, "two GPUs of a hybrid cube mesh have no neighbour in common");
  return best;
}

}  // namespace

NodePlan::NodePlan(int gpus) : num_gpus(gpus), leave(at(gpus)), enter(at(gpus)) {
  for (int gpu = 0; gpu < num_gpus; ++gpu) {
    add_vertex(fmt::format("GPU {}", gpu), VertexKind::rank);
  }
}

std::int32_t NodePlan::add_link(LinkKind kind, std::string name, const LinkNumbers& numbers,
                                std::int32_t from, std::int32_t to) {
  links.push_back({.name = std::move(name),
                   .kind = kind,
                   .latency = numbers.latency,
                   .capacity = numbers.capacity,
                   .from = from,
                   .to = to});
  return static_cast<std::int32_t>(links.size()) - 1;
}

std::int32_t NodePlan::add_vertex(std::string label, VertexKind kind, std::int32_t attached_to) {
  vertices.push_back({.label = std::move(label), .kind = kind, .attached_to = attached_to});
  return static_cast<std::int32_t>(vertices.size()) - 1;
}

void wire_switch(NodePlan& plan, const std::string& cable, const LinkNumbers& port) {
  const std::int32_t vertex = plan.add_vertex(fmt::format("{} switch", cable), VertexKind::switching);
  const auto first = static_cast<std::int32_t>(plan.links.size());
  for (int gpu = 0; gpu < plan.num_gpus; ++gpu) {
    plan.add_link(LinkKind::gpu_up, fmt::format("GPU {} {} up", gpu, cable), port, gpu, vertex);
    plan.add_link(LinkKind::gpu_down, fmt::format("GPU {} {} down", gpu, cable), port, vertex, gpu);
  }
  plan.wiring = std::make_unique<SwitchWiring>(first);
}

void wire_ports(NodePlan& plan, const LinkNumbers& numbers) {
  const LinkNumbers port{.latency = 0.5 * numbers.latency, .capacity = numbers.capacity};
  const std::int32_t vertex = plan.add_vertex("any other GPU", VertexKind::switching);
  const auto first = static_cast<std::int32_t>(plan.links.size());
  for (int gpu = 0; gpu < plan.num_gpus; ++gpu) {
    plan.add_link(LinkKind::gpu_up, fmt::format("GPU {}'s port out", gpu), port, gpu, vertex);
    plan.add_link(LinkKind::gpu_down, fmt::format("GPU {}'s port in", gpu), port, vertex, gpu);
  }
  plan.wiring = std::make_unique<SwitchWiring>(first);
}

void wire_mesh(NodePlan& plan, const std::string& cable, const LinkNumbers& pair) {
  auto wiring = std::make_unique<DirectWiring>(plan.num_gpus);
  for (int source = 0; source < plan.num_gpus; ++source) {
    for (int target = 0; target < plan.num_gpus; ++target) {
      if (source != target) {
        wiring->set_link(
            source, target,
            plan.add_link(LinkKind::gpu_to_gpu, fmt::format("{} GPU {} to GPU {}", cable, source, target),
                          pair, source, target));
      }
    }
  }
  plan.wiring = std::move(wiring);
}

void wire_medium(NodePlan& plan, const LinkNumbers& medium) {
  const std::int32_t vertex = plan.add_vertex("shared medium", VertexKind::medium);
  for (int gpu = 0; gpu < plan.num_gpus; ++gpu) {
    plan.vertices[at(gpu)].attached_to = vertex;
  }
  plan.wiring = std::make_unique<MediumWiring>(
      plan.add_link(LinkKind::medium, "shared medium", medium, vertex, vertex));
}

int hybrid_cube_links(int source, int target, bool double_links) {
  return std::min(kCubeLinks.at(at(source)).at(at(target)), double_links ? 2 : 1);
}

void wire_hybrid_cube_mesh(NodePlan& plan, const std::string& cable, const LinkNumbers& link,
                           bool double_links) {
  RINGSIDE_CHECK(plan.num_gpus == kCubeGpus || plan.num_gpus == kCubeGpus / 2,
                 "a hybrid cube mesh has eight GPUs, its half four");
  auto wiring = std::make_unique<DirectWiring>(plan.num_gpus);
  for (int source = 0; source < plan.num_gpus; ++source) {
    for (int target = 0; target < plan.num_gpus; ++target) {
      const int links = hybrid_cube_links(source, target, double_links);
      if (links > 0) {
        wiring->set_link(
            source, target,
            plan.add_link(LinkKind::gpu_to_gpu, fmt::format("{} GPU {} to GPU {}", cable, source, target),
                          times(links, link), source, target));
      } else if (source != target) {
        wiring->set_through(source, target, widest_neighbour(source, target, double_links));
      }
    }
  }
  plan.wiring = std::move(wiring);
}

void wire_pcie(NodePlan& plan, PcieTree tree) { plan.wiring = std::make_unique<PcieWiring>(std::move(tree)); }

void wire_bridged_pairs(NodePlan& plan, const std::string& cable, const LinkNumbers& bridge, PcieTree tree) {
  const auto first = static_cast<std::int32_t>(plan.links.size());
  for (int gpu = 0; gpu < plan.num_gpus; ++gpu) {
    const int other = gpu ^ 1;
    if (other < plan.num_gpus) {
      plan.add_link(LinkKind::gpu_to_gpu, fmt::format("{} GPU {} to GPU {}", cable, gpu, other), bridge, gpu,
                    other);
    }
  }
  plan.wiring = std::make_unique<BridgedPairsWiring>(first, std::move(tree));
}

}  // namespace ringside
