#include "sim/topology/node.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "common/error.hpp"
#include "common/index.hpp"

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

}  // namespace ringside
