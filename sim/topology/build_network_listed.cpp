#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/failures.hpp"
#include "common/numbers.hpp"
#include "sim/topology/build_network_parts.hpp"
#include "sim/topology/network.hpp"
#include "sim/topology/ring_order.hpp"

namespace ringside {
namespace {

/// Links between vertices as somebody listed them. A message takes the path of least latency, among those the
/// one with the fewest links, among those the one listed first; ranks and switches pass on alike. Routes are
/// worked out once: memory grows with ranks times vertices.
class GraphTopology final : public Topology {
 public:
  struct Cable {
    std::int32_t from = 0;
    std::int32_t to = 0;
    std::int32_t forward = 0;   ///< Id of the link from `from` to `to`.
    std::int32_t backward = 0;  ///< Id of the link back; the same for a half-duplex cable.
  };

  /// Vertices 0 … num_ranks−1 are the ranks.
  GraphTopology(std::vector<Link> links, std::span<const Cable> cables, int num_vertices, int num_ranks)
      : links_(std::move(links)) {
    std::vector<std::vector<Edge>> edges(at(num_vertices));
    for (const Cable& cable : cables) {
      edges[at(cable.from)].push_back({.to = cable.to, .link = cable.forward});
      edges[at(cable.to)].push_back({.to = cable.from, .link = cable.backward});
    }
    paths_.reserve(at(num_ranks));
    for (Rank rank = 0; rank < num_ranks; ++rank) {
      paths_.push_back(shortest_paths(rank, edges));
    }
  }

  std::span<const Link> links() const override { return links_; }

  void route(Rank source, Rank target, std::vector<std::int32_t>& route) const override {
    route.clear();
    const std::vector<Step>& steps = paths_[at(source)];
    for (std::int32_t vertex = target; vertex != source;) {
      const Step& step = steps[at(vertex)];
      if (step.link < 0) {
        route.clear();
        return;
      }
      route.push_back(step.link);
      vertex = step.from;
    }
    std::reverse(route.begin(), route.end());
  }

 private:
  struct Edge {
    std::int32_t to = 0;
    std::int32_t link = 0;
  };
  /// The last step of the path to a vertex.
  struct Step {
    std::int32_t from = -1;
    std::int32_t link = -1;  ///< -1 = no path.
  };

  std::vector<Step> shortest_paths(std::int32_t source, const std::vector<std::vector<Edge>>& edges) const {
    // Dijkstra's algorithm on pairs (latency, number of links), which add up and compare like one number.
    using Distance = std::pair<double, int>;
    const Distance far{std::numeric_limits<double>::infinity(), 0};
    std::vector<Distance> distance(edges.size(), far);
    std::vector<Step> steps(edges.size());
    using Entry = std::pair<Distance, std::int32_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    distance[at(source)] = {0, 0};
    queue.emplace(Distance{0, 0}, source);
    while (!queue.empty()) {
      const auto [reached, vertex] = queue.top();
      queue.pop();
      if (reached != distance[at(vertex)]) {
        continue;  // A shorter path was found since.
      }
      for (const Edge& edge : edges[at(vertex)]) {
        const Distance longer{reached.first + links_[at(edge.link)].latency.value, reached.second + 1};
        if (longer < distance[at(edge.to)]) {
          distance[at(edge.to)] = longer;
          steps[at(edge.to)] = {.from = vertex, .link = edge.link};
          queue.emplace(longer, edge.to);
        }
      }
    }
    return steps;
  }

  std::vector<Link> links_;
  std::vector<std::vector<Step>> paths_;  ///< Per rank, per vertex.
};

/// Where a link stands: `file:12: links`, or what it joins when the machine was built in code.
std::string place_of(const Machine& machine, const LinkSpec& link) {
  if (machine.origin.empty()) {
    return fmt::format("{}: link from '{}' to '{}'", subject(machine), link.from, link.to);
  }
  return fmt::format("{}:{}: links", machine.origin, link.line);
}

constexpr std::string_view kRankWord = "rank ";

/// The number of `rank 3`, if it is spelt so.
std::optional<Rank> rank_of(std::string_view end) {
  if (end.substr(0, kRankWord.size()) != kRankWord) {
    return std::nullopt;
  }
  const std::optional<Rank> rank = parse_number<Rank>(end.substr(kRankWord.size()));
  return rank && *rank >= 0 ? rank : std::nullopt;
}

LinkKind kind_of(std::string_view from, std::string_view to) {
  const bool from_rank = rank_of(from).has_value();
  const bool to_rank = rank_of(to).has_value();
  if (from_rank) {
    return to_rank ? LinkKind::gpu_to_gpu : LinkKind::gpu_up;
  }
  return to_rank ? LinkKind::gpu_down : LinkKind::switch_to_switch;
}

/// Reads machine.links into vertices, links and cables; collects everything that is wrong with them.
class LinkReader {
 public:
  explicit LinkReader(const BuildRequest& request) : request_(request), machine_(request.machine) {
    const std::int64_t num_gpus = machine_.gpus_per_node
                                      ? std::int64_t{*machine_.gpus_per_node} * machine_.nodes
                                      : std::numeric_limits<std::int64_t>::max();
    for (const LinkSpec& link : machine_.links) {
      for (const Rank rank : {rank_of(link.from).value_or(-1), rank_of(link.to).value_or(-1)}) {
        num_named_ranks_ = std::max(num_named_ranks_, rank + 1);
        if (rank >= num_gpus) {
          faults_.push_back(fmt::format("{}: there is no 'rank {}': the machine has {} GPUs",
                                        place_of(machine_, link), rank, num_gpus));
        }
      }
    }
    stop_at_faults();
    if (num_named_ranks_ < request.num_ranks) {
      fail_for_missing_ranks();
    }
    for (Rank rank = 0; rank < num_named_ranks_; ++rank) {
      vertices_.push_back({.label = fmt::format("rank {}", rank), .kind = VertexKind::rank});
    }
    for (const LinkSpec& link : machine_.links) {
      add(link);
    }
  }

  Network network() && {
    auto topology = std::make_unique<GraphTopology>(std::move(links_), cables_,
                                                    static_cast<int>(vertices_.size()), request_.num_ranks);
    check_routes(*topology);
    Network network;
    network.order = choose_ring_order(*topology, request_.num_ranks);
    network.vertices = std::move(vertices_);
    network.topology = std::move(topology);
    return network;
  }

 private:
  std::int32_t vertex(const std::string& end) {
    if (const std::optional<Rank> rank = rank_of(end)) {
      return *rank;
    }
    const auto [found, is_new] = switches_.try_emplace(end, static_cast<std::int32_t>(vertices_.size()));
    if (is_new) {
      vertices_.push_back({.label = end, .kind = VertexKind::switching});
    }
    return found->second;
  }

  void add(const LinkSpec& spec) {
    const std::int32_t from = vertex(spec.from);
    const std::int32_t to = vertex(spec.to);
    const LinkNumbers numbers{.latency = spec.latency, .capacity = spec.bandwidth};
    if (!spec.duplex) {
      const std::int32_t medium =
          add_link(links_, LinkKind::medium, fmt::format("{} and {}, both ways", spec.from, spec.to), numbers,
                   from, to);
      cables_.push_back({.from = from, .to = to, .forward = medium, .backward = medium});
      return;
    }
    const std::int32_t forward = add_link(links_, kind_of(spec.from, spec.to),
                                          fmt::format("{} to {}", spec.from, spec.to), numbers, from, to);
    const std::int32_t backward = add_link(links_, kind_of(spec.to, spec.from),
                                           fmt::format("{} to {}", spec.to, spec.from), numbers, to, from);
    cables_.push_back({.from = from, .to = to, .forward = forward, .backward = backward});
  }

  /// Cables lead both ways, so that whoever reaches rank 0 reaches everyone.
  void check_routes(const GraphTopology& topology) {
    std::vector<std::int32_t> route;
    for (Rank rank = 1; rank < request_.num_ranks; ++rank) {
      topology.route(0, rank, route);
      if (!route.empty()) {
        continue;
      }
      const std::string end = fmt::format("rank {}", rank);
      const auto own = std::ranges::find_if(
          machine_.links, [&](const LinkSpec& link) { return link.from == end || link.to == end; });
      faults_.push_back(own != machine_.links.end()
                            ? fmt::format("{}: {} has no route to rank 0", place_of(machine_, *own), end)
                            : fmt::format("{}: links: no link leads to {}", subject(machine_), end));
    }
    stop_at_faults();
  }

  [[noreturn]] void fail_for_missing_ranks() const {
    if (machine_.gpus_per_node) {
      fail(machine_, "links", "no link leads to rank {}", num_named_ranks_);
    }
    fail_for_too_few_gpus(machine_, num_named_ranks_, request_.num_ranks);
  }

  void stop_at_faults() const {
    if (!faults_.empty()) {
      throw bad_input("{}", fmt::join(faults_, "\n"));
    }
  }

  const BuildRequest& request_;
  const Machine& machine_;
  std::vector<std::string> faults_;
  int num_named_ranks_ = 0;
  std::map<std::string, std::int32_t> switches_;
  std::vector<Vertex> vertices_;
  std::vector<Link> links_;
  std::vector<GraphTopology::Cable> cables_;
};

}  // namespace

Network build_listed_network(const BuildRequest& request) {
  const Machine& machine = request.machine;
  if (machine.intra || machine.inter) {
    fail(machine, "links", "they are the whole network, so that `{}` must be left out",
         machine.intra ? "intra" : "inter");
  }
  return LinkReader(request).network();
}

}  // namespace ringside
