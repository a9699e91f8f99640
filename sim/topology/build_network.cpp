#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "common/failures.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "sim/topology/build_network_parts.hpp"
#include "sim/topology/network.hpp"
#include "sim/topology/node.hpp"
#include "sim/topology/ring_order.hpp"

namespace ringside {

namespace {

/// GPUs of a node; a machine that leaves it open has as many as the ranks need.
int gpus_per_node(const BuildRequest& request) {
  const Machine& machine = request.machine;
  require_some(machine, "nodes", machine.nodes, "nodes");
  if (machine.gpus_per_node) {
    require_some(machine, "gpus_per_node", *machine.gpus_per_node, "GPUs");
    return *machine.gpus_per_node;
  }
  if (machine.intra && machine.intra->wiring == "hybrid_cube_mesh") {
    return kCubeGpus;
  }
  return (request.num_ranks + machine.nodes - 1) / machine.nodes;
}

SecondsPerByte reduction_cost(const BuildRequest& request) {
  if (request.machine.intra && request.machine.intra->reduction) {
    return *request.machine.intra->reduction;
  }
  return request.gpu ? reduction_cost_of(*request.gpu, request.numbers) : SecondsPerByte{};
}

/// Several messages per rank say what this number of ranks does with them, not what more ranks with one
/// message each do; those of more ranks are only looked at where this number was not probed.
std::vector<Curve> curves_among(int num_ranks, const std::vector<Curve>& curves) {
  std::vector<Curve> result;
  std::ranges::copy_if(curves, std::back_inserter(result), [&](const Curve& curve) {
    const bool probed = std::ranges::any_of(
        curves, [&](const Curve& other) { return other.kind == curve.kind && other.ranks == num_ranks; });
    return !row_of(curve.kind).by_ranks || curve.ranks == num_ranks ||
           (curve.messages == 1 && (!probed || curve.ranks < num_ranks));
  });
  return result;
}

Network calibrated_network(const BuildRequest& request, const Calibrated& calibrated) {
  if (calibrated.bandwidth.value <= 0) {
    fail(request.machine, "calibrated.bandwidth", "nothing can be sent at 0 B/s");
  }
  Network network;
  network.source = CostSource::calibrated;
  network.uniform = Network::Uniform{.latency = calibrated.latency,
                                     .inverse_bandwidth = inverse(calibrated.bandwidth),
                                     .reduction = calibrated.reduction};
  if (find_curve(calibrated.curves, ProbeKind::ping_pong) != nullptr) {
    network.processor = SharedProcessor{.cores = calibrated.cores,
                                        .curves = curves_among(request.num_ranks, calibrated.curves)};
  }
  return network;
}

/// A cluster that was probed, as if somebody had stated what was found, with as many nodes as the ranks need;
/// nothing for any other machine.
std::optional<Machine> stated_as_probed(const Machine& machine, int num_ranks) {
  if (!machine.calibrated || !machine.calibrated->between_nodes) {
    return std::nullopt;
  }
  const Calibrated& within = *machine.calibrated;
  const BetweenNodes& between = *within.between_nodes;
  Machine stated = machine;
  stated.calibrated.reset();
  const int evenly = (num_ranks + machine.nodes - 1) / std::max(1, machine.nodes);
  const int per_node = std::max(1, machine.ranks_per_node.value_or(machine.gpus_per_node.value_or(evenly)));
  stated.nodes = std::max(machine.nodes, (num_ranks + per_node - 1) / per_node);
  stated.intra =
      IntraLink{.latency = within.latency, .bandwidth = within.bandwidth, .reduction = within.reduction};
  // Groups of nodes and their uplinks remain what the description says of them.
  InterLink inter = machine.inter.value_or(InterLink{});
  inter.kind = InterKind::custom;
  inter.nics = between.messages;
  inter.latency = between.latency;
  inter.bandwidth = between.bandwidth;
  stated.inter = inter;
  return stated;
}

/// The order of each node's ranks one after another. Full nodes are alike; the last may have fewer ranks.
std::vector<Rank> order_node_by_node(const Topology& topology, int num_ranks, int per_node) {
  std::vector<Rank> order;
  const std::vector<Rank> full = choose_ring_order(topology, std::min(num_ranks, per_node));
  for (Rank first = 0; first < num_ranks; first += per_node) {
    const int num_here = std::min(num_ranks - first, per_node);
    const std::vector<Rank> here =
        num_here < static_cast<int>(full.size()) ? choose_ring_order(topology, num_here) : full;
    for (const Rank rank : here) {
      order.push_back(first + rank);
    }
  }
  return order;
}

Network cluster_network(const BuildRequest& request, int num_gpus, int per_node) {
  const int num_nodes = (request.num_ranks + per_node - 1) / per_node;
  PlannedNode node = plan_node(request, num_gpus, num_nodes > 1);
  Network network;
  network.source = node.from_specification ? CostSource::spec : CostSource::given;
  if (node.private_pairs && num_nodes == 1) {
    network.uniform = Network::Uniform{.latency = node.private_pairs->latency,
                                       .inverse_bandwidth = inverse(node.private_pairs->capacity),
                                       .reduction = reduction_cost(request),
                                       .single_port = node.single_port};
  }
  if (!node.plan.append_route && num_gpus > 1) {
    return network;  // Uniform, and too many pairs to list.
  }
  network.gpus_per_node = num_gpus;
  auto topology = std::make_unique<ClusterTopology>(std::move(node.plan), num_nodes, per_node);
  if (node.needs_ring_order) {
    network.order = order_node_by_node(*topology, request.num_ranks, per_node);
  }
  network.nics_per_node = num_nodes > 1 ? request.machine.inter->nics : 0;
  network.vertices = topology->vertices();
  network.topology = std::move(topology);
  return network;
}

/// The ring order that the user forces, of the ranks that there are.
std::vector<Rank> forced_order(const BuildRequest& request) {
  const std::vector<Rank>& forced = *request.machine.ring_order;
  const int size = static_cast<int>(forced.size());
  if (size < request.num_ranks) {
    fail(request.machine, "ring_order", "it names {} ranks, {} were asked for", size, request.num_ranks);
  }
  std::vector<Rank> order;
  std::ranges::copy_if(forced, std::back_inserter(order),
                       [&](Rank rank) { return rank < request.num_ranks; });
  return order;
}

void set_order(const BuildRequest& request, Network& network) {
  if (request.machine.ring_order) {
    network.order = forced_order(request);
  }
  std::vector<Rank> identity(network.order.size());
  std::iota(identity.begin(), identity.end(), 0);
  if (network.order == identity) {
    network.order.clear();
  }
}

void set_stragglers(const BuildRequest& request, std::int64_t num_gpus, Network& network) {
  const Machine& machine = request.machine;
  if (!machine.stragglers.empty()) {
    network.slowdown.assign(at(request.num_ranks), 1);
  }
  for (const Straggler& straggler : machine.stragglers) {
    if (num_gpus > 0 && straggler.rank >= num_gpus) {
      fail(machine, "stragglers", "there is no rank {}", straggler.rank);
    }
    if (straggler.rank < request.num_ranks) {
      network.slowdown[at(straggler.rank)] = straggler.slowdown;
    }
  }
}

}  // namespace

std::string subject(const Machine& machine) {
  return !machine.origin.empty() ? machine.origin
         : machine.name.empty()  ? std::string("the machine")
                                 : fmt::format("machine '{}'", machine.name);
}

void fail(const Machine& machine, std::string_view key, std::string_view what) {
  throw bad_input("{}: {}: {}", subject(machine), key, what);
}

void require_some(const Machine& machine, std::string_view key, int number, std::string_view of) {
  if (number < 1) {
    fail(machine, key, "{} is not a number of {}", number, of);
  }
}

std::vector<GroupLinks> plan_groups(const Machine& machine, BytesPerSecond all_nics) {
  std::vector<GroupLinks> groups;
  for (const FabricLevel& level : machine.inter->levels) {
    const double latency = level.latency.value_or(Seconds{}).value;
    const double out = level.nodes * all_nics.value / level.oversubscription;
    if (!level.pairwise) {
      // A message takes half of the latency on the way up and half on the way down.
      groups.push_back({.nodes = level.nodes, .numbers = {.latency = {latency / 2}, .capacity = {out}}});
      continue;
    }
    constexpr int kMostGroups = 1024;  // A million links.
    const int others = (machine.nodes - 1) / level.nodes;
    if (others >= kMostGroups) {
      fail(machine, "inter.levels", "{} groups are too many to have a link for every two; at most {}",
           others + 1, kMostGroups);
    }
    groups.push_back({.nodes = level.nodes,
                      .numbers = {.latency = {latency}, .capacity = {out / std::max(others, 1)}},
                      .pairwise = true});
  }
  return groups;
}

void fail_for_too_few_gpus(const Machine& machine, std::int64_t num_gpus, int num_ranks) {
  throw bad_input("machine '{}' has {}, {} ranks were asked for", machine.name, count_of(num_gpus, "GPU"),
                  num_ranks);
}

void require_links_of_vendor(const GpuModel& gpu, const std::optional<IntraLink>& intra) {
  if (intra && gpu.vendor == Vendor::amd && intra->kind == IntraKind::nvlink) {
    throw bad_input("{} is a GPU of AMD's, which has `xgmi`, not NVLink", gpu.name);
  }
  if (intra && gpu.vendor == Vendor::nvidia && intra->kind == IntraKind::xgmi) {
    throw bad_input("{} is a GPU of NVIDIA's, which has `nvlink`, not xGMI", gpu.name);
  }
}

Network build_network(const Machine& described, int num_ranks, SpecNumbers numbers) {
  RINGSIDE_CHECK(num_ranks >= 1, "a network has at least one rank");
  const std::optional<Machine> probed = stated_as_probed(described, num_ranks);
  const Machine& machine = probed ? *probed : described;
  BuildRequest request{.machine = machine, .num_ranks = num_ranks, .numbers = numbers};
  const int num_gpus = gpus_per_node(request);
  const int per_node = std::min(num_gpus, machine.ranks_per_node.value_or(num_gpus));
  const std::int64_t num_all = std::int64_t{per_node} * machine.nodes;
  if (num_all < num_ranks) {
    fail_for_too_few_gpus(machine, num_all, num_ranks);
  }
  if (machine.gpu && !machine.calibrated) {
    request.gpu = located(machine, "gpu.model", [&] { return gpu_model(machine); });
    located(machine, "intra.kind", [&] { require_links_of_vendor(*request.gpu, machine.intra); });
  }

  Network network;
  if (machine.calibrated) {
    network = calibrated_network(request, *machine.calibrated);
  } else if (!machine.links.empty()) {
    network = build_listed_network(request);
  } else {
    network = cluster_network(request, num_gpus, per_node);
  }
  if (probed) {
    network.source = CostSource::calibrated;
  }
  network.num_ranks = num_ranks;
  network.ranks_per_node = num_ranks > per_node ? per_node : 0;
  network.reduction.assign(at(num_ranks),
                           network.uniform ? network.uniform->reduction : reduction_cost(request));
  set_order(request, network);
  set_stragglers(request, machine.gpus_per_node ? num_all : 0, network);
  return network;
}

}  // namespace ringside
