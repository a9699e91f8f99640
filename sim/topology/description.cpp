#include "sim/topology/description.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "common/numbers.hpp"
#include "sim/topology/route_cost.hpp"

namespace ringside {

namespace {

using Route = std::vector<std::int32_t>;

std::vector<RingHop> hops_of(const Network& network) {
  std::vector<RingHop> hops;
  for (Rank position = 0; position < network.num_ranks && network.num_ranks > 1; ++position) {
    const Rank next = (position + 1) % network.num_ranks;
    const bool identity = network.order.empty();
    hops.push_back({.source = identity ? position : network.order[at(position)],
                    .target = identity ? next : network.order[at(next)]});
  }
  return hops;
}

/// Links of a route once each, with how often they stand there.
std::vector<CrossedLink> crossed_links(const Topology& topology, const Route& route) {
  std::vector<CrossedLink> crossed;
  for (const std::int32_t id : route) {
    const auto seen = std::ranges::find(crossed, id, &CrossedLink::link);
    if (seen != crossed.end()) {
      ++seen->times;
      continue;
    }
    const Link& link = topology.links()[at(id)];
    crossed.push_back(
        {.link = id, .name = name_of(link), .latency = link.latency, .capacity = link.capacity});
  }
  return crossed;
}

bool is_among(const std::vector<CrossedLink>& links, std::int32_t id) {
  return std::ranges::find(links, id, &CrossedLink::link) != links.end();
}

bool limits(const CrossedLink& link, BytesPerSecond slowest) {
  return link.capacity.value / link.ring_crossings <= slowest.value * (1 + 1e-9);
}

std::vector<CrossedLink> limiting_links(const std::vector<RingHop>& ring) {
  std::vector<CrossedLink> limiting;
  if (ring.empty()) {
    return limiting;
  }
  const BytesPerSecond slowest = std::ranges::min_element(ring, {}, &RingHop::with_ring)->with_ring;
  for (const RingHop& hop : ring) {
    for (const CrossedLink& link : hop.links) {
      if (!is_among(limiting, link.link) && limits(link, slowest)) {
        limiting.push_back(link);
      }
    }
  }
  return limiting;
}

void describe_ring(const Network& network, std::vector<RingHop>& ring) {
  struct Load {
    int flows = 0;
    int crossings = 0;
  };
  std::vector<Load> loads(network.topology->links().size());
  Route route;
  for (RingHop& hop : ring) {
    network.topology->route(hop.source, hop.target, route);
    hop.links = crossed_links(*network.topology, route);
    for (const CrossedLink& link : hop.links) {
      ++loads[at(link.link)].flows;
      loads[at(link.link)].crossings += link.times;
    }
  }
  for (RingHop& hop : ring) {
    double alone = std::numeric_limits<double>::infinity();
    double with_ring = alone;
    for (CrossedLink& link : hop.links) {
      const Load& load = loads[at(link.link)];
      link.ring_flows = load.flows;
      link.ring_crossings = load.crossings;
      hop.latency = hop.latency + link.times * link.latency;
      alone = std::min(alone, link.capacity.value / link.times);
      with_ring = std::min(with_ring, link.capacity.value / load.crossings);
    }
    hop.alone = {alone};
    hop.with_ring = {with_ring};
  }
}

void describe_uniform_ring(const Network::Uniform& uniform, std::vector<RingHop>& ring) {
  for (RingHop& hop : ring) {
    hop.latency = uniform.latency;
    hop.alone = inverse(uniform.inverse_bandwidth);
    hop.with_ring = hop.alone;
    if (uniform.single_port) {
      for (const std::int32_t port : {port_out(hop.source), port_in(hop.target)}) {
        hop.links.push_back({.link = port,
                             .name = port_name(port),
                             .latency = 0.5 * uniform.latency,
                             .capacity = hop.alone,
                             .ring_flows = 1,
                             .ring_crossings = 1});
      }
    }
  }
}

/// Links as edges; the two directions of a cable become one.
std::vector<DrawnEdge> edges_of(const Network& network, const std::vector<CrossedLink>& limiting) {
  std::vector<DrawnEdge> edges;
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<std::size_t>> one_way;
  const std::span<const Link> links = network.topology->links();
  for (std::size_t id = 0; id < links.size(); ++id) {
    const Link& link = links[id];
    if (link.from < 0 || link.to < 0) {
      continue;
    }
    const bool limits_ring = is_among(limiting, static_cast<std::int32_t>(id));
    std::vector<std::size_t>& back = one_way[{link.to, link.from}];
    const auto partner = std::ranges::find_if(back, [&](std::size_t edge) {
      return link.from != link.to && edges[edge].capacity == link.capacity;
    });
    if (partner != back.end()) {
      edges[*partner].duplex = true;
      edges[*partner].limits_ring = edges[*partner].limits_ring || limits_ring;
      back.erase(partner);
      continue;
    }
    one_way[{link.from, link.to}].push_back(edges.size());
    edges.push_back({.from = link.from,
                     .to = link.to,
                     .label = name_of(link),
                     .capacity = link.capacity,
                     .kind = link.kind,
                     .limits_ring = limits_ring});
  }
  for (std::size_t vertex = 0; vertex < network.vertices.size(); ++vertex) {
    if (network.vertices[vertex].attached_to >= 0) {
      edges.push_back(
          {.from = static_cast<std::int32_t>(vertex), .to = network.vertices[vertex].attached_to});
    }
  }
  return edges;
}

void set_levels(const std::vector<DrawnEdge>& edges, std::vector<DrawnVertex>& vertices) {
  constexpr int kFar = -1;
  std::vector<std::vector<std::int32_t>> neighbours(vertices.size());
  for (const DrawnEdge& edge : edges) {
    neighbours[at(edge.from)].push_back(edge.to);
    neighbours[at(edge.to)].push_back(edge.from);
  }
  std::deque<std::int32_t> reached;
  for (std::size_t id = 0; id < vertices.size(); ++id) {
    const bool is_rank = vertices[id].kind == VertexKind::rank;
    vertices[id].level = is_rank ? 0 : kFar;
    if (is_rank) {
      reached.push_back(static_cast<std::int32_t>(id));
    }
  }
  for (; !reached.empty(); reached.pop_front()) {
    for (const std::int32_t next : neighbours[at(reached.front())]) {
      if (vertices[at(next)].level == kFar) {
        vertices[at(next)].level = vertices[at(reached.front())].level + 1;
        reached.push_back(next);
      }
    }
  }
}

std::vector<DrawnVertex> vertices_of(const Network& network) {
  std::vector<DrawnVertex> vertices;
  Rank num_seen = 0;
  int gpus_seen = 0;
  for (const Vertex& vertex : network.vertices) {
    DrawnVertex& drawn = vertices.emplace_back(
        DrawnVertex{.label = name_of(vertex),
                    .kind = vertex.kind,
                    .node = vertex.node >= 0 ? std::optional(vertex.node) : std::nullopt});
    if (vertex.kind != VertexKind::rank) {
      continue;
    }
    // Where ranks do not fill a node its last GPUs have none.
    const int gpu = network.gpus_per_node > 0 ? gpus_seen++ % network.gpus_per_node : 0;
    const bool has_rank = network.ranks_per_node == 0 || gpu < network.ranks_per_node;
    if (has_rank && num_seen < network.num_ranks) {
      drawn.rank = num_seen++;
    }
  }
  if (network.vertices.empty()) {
    for (Rank rank = 0; rank < network.num_ranks; ++rank) {
      vertices.push_back({.label = fmt::format("rank {}", rank), .rank = rank});
    }
  }
  return vertices;
}

}  // namespace

TopologyDescription describe(const Network& network) {
  TopologyDescription description{.ring = hops_of(network), .vertices = vertices_of(network)};
  if (network.topology) {
    describe_ring(network, description.ring);
    description.limiting = limiting_links(description.ring);
    description.edges = edges_of(network, description.limiting);
    set_levels(description.edges, description.vertices);
  } else if (network.uniform) {
    describe_uniform_ring(*network.uniform, description.ring);
    description.limiting = limiting_links(description.ring);
  }
  return description;
}

std::vector<RingHop> ring_inside_node(Machine machine, int gpus) {
  machine.nodes = 1;
  machine.gpus_per_node = machine.gpus_per_node.value_or(gpus);
  machine.ranks_per_node.reset();
  machine.inter.reset();
  machine.calibrated.reset();
  machine.ring_order.reset();
  machine.stragglers.clear();
  return describe(build_network(machine, gpus)).ring;
}

}  // namespace ringside
