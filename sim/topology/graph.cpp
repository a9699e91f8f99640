#include "sim/topology/graph.hpp"

#include <algorithm>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>

#include "common/index.hpp"

namespace ringside {

GraphTopology::GraphTopology(std::vector<Link> links, std::span<const Cable> cables, int num_vertices,
                             int num_ranks)
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

std::vector<GraphTopology::Step> GraphTopology::shortest_paths(
    std::int32_t source, const std::vector<std::vector<Edge>>& edges) const {
  // Dijkstra's algorithm on pairs (latency, number of links), which add up and compare like one number.
  using Distance = std::pair<double, int>;
  const Distance far{std::numeric_limits<double>::infinity(), 0};
  std::vector<Distance> distance(edges.size(), far);
  std::vector<Step> steps(edges.size());
  using Entry = std::tuple<double, int, std::int32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  distance[at(source)] = {0, 0};
  queue.emplace(0, 0, source);
  while (!queue.empty()) {
    const auto [latency, hops, vertex] = queue.top();
    queue.pop();
    if (Distance{latency, hops} != distance[at(vertex)]) {
      continue;  // A shorter path was found since.
    }
    for (const Edge& edge : edges[at(vertex)]) {
      const Distance longer{latency + links_[at(edge.link)].latency.value, hops + 1};
      if (longer < distance[at(edge.to)]) {
        distance[at(edge.to)] = longer;
        steps[at(edge.to)] = {.from = vertex, .link = edge.link};
        queue.emplace(longer.first, longer.second, edge.to);
      }
    }
  }
  return steps;
}

void GraphTopology::route(Rank source, Rank target, std::vector<std::int32_t>& route) const {
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

}  // namespace ringside
