#include "plots/charts/topology_groups.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/numbers.hpp"

namespace ringside::plots {
namespace {

/// Joins like edges between two nodes, also where only some limit: their lines would coincide.
std::vector<TopologyEdge> joined(const std::vector<TopologyEdge>& edges) {
  std::vector<TopologyEdge> result;
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> known;
  for (const TopologyEdge& edge : edges) {
    const auto [place, fresh] = known.try_emplace({edge.from, edge.to, edge.label}, result.size());
    if (fresh) {
      result.push_back(edge);
    } else {
      result[place->second].times += edge.times;
      result[place->second].limits = result[place->second].limits || edge.limits;
    }
  }
  return result;
}

/// The graph with other nodes in the places of some of its own; of these the first names the place.
TopologyGraph replaced(const TopologyGraph& graph, const std::map<std::string, TopologyNode>& by) {
  TopologyGraph result = graph;
  result.nodes.clear();
  std::set<std::string> there;
  for (const TopologyNode& node : graph.nodes) {
    const auto found = by.find(node.id);
    const TopologyNode& stands = found == by.end() ? node : found->second;
    if (there.insert(stands.id).second) {
      result.nodes.push_back(stands);
    }
  }
  std::vector<TopologyEdge> edges;
  for (TopologyEdge edge : graph.edges) {
    for (std::string* end : {&edge.from, &edge.to}) {
      const auto found = by.find(*end);
      *end = found == by.end() ? *end : found->second.id;
    }
    if (edge.from != edge.to) {
      edges.push_back(std::move(edge));
    }
  }
  result.edges = joined(edges);
  return result;
}

/// `GPU ` and 3; without a number at its end the whole label.
std::pair<std::string, std::optional<int>> numbered(const std::string& label) {
  const std::size_t digits = label.find_last_not_of("0123456789") + 1;
  const std::string_view number = std::string_view(label).substr(std::min(digits, label.size()));
  return {label.substr(0, digits), parse_number<int>(number)};
}

std::string label_of(const std::vector<const TopologyNode*>& group) {
  const auto [name, first] = numbered(group.front()->label);
  const auto last = numbered(group.back()->label).second;
  if (first && last && *last - *first + 1 == static_cast<int>(group.size())) {
    return fmt::format("{}{} to {}", name, *first, *last);
  }
  return fmt::format("{} × {}", group.size(), name);
}

}  // namespace

TopologyGraph first_of_parts(const TopologyGraph& graph) {
  std::set<int> parts;
  std::map<std::string, const TopologyNode*> nodes;
  for (const TopologyNode& node : graph.nodes) {
    nodes[node.id] = &node;
    if (node.part) {
      parts.insert(*node.part);
    }
  }
  if (parts.size() < 2) {
    return graph;
  }
  const auto is_other = [&](const TopologyNode& node) { return node.part && node.part != *parts.begin(); };
  TopologyNode others = {.id = "other parts", .label = {}};
  others.label = parts.size() == 2 ? fmt::format("node {}, like node {}", *parts.rbegin(), *parts.begin())
                                   : fmt::format("nodes {} to {}, like node {}", *std::next(parts.begin()),
                                                 *parts.rbegin(), *parts.begin());
  for (const TopologyEdge& edge : graph.edges) {
    const TopologyNode& from = *nodes.at(edge.from);
    const TopologyNode& to = *nodes.at(edge.to);
    if (is_other(from) != is_other(to)) {
      others.level = (is_other(from) ? from : to).level;
    }
  }
  std::map<std::string, TopologyNode> by;
  for (const TopologyNode& node : graph.nodes) {
    if (is_other(node)) {
      by[node.id] = others;
    }
  }
  return replaced(graph, by);
}

std::string text_of(const TopologyNode& node) {
  return node.detail.empty() ? node.label : fmt::format("{}: {}", node.label, node.detail);
}

TopologyGraph grouped(const TopologyGraph& graph, const std::set<int>& levels) {
  using Links = std::multiset<std::tuple<std::string, std::string, bool>>;
  std::map<std::string, Links> links;
  for (const TopologyEdge& edge : graph.edges) {
    links[edge.from].insert({edge.to, edge.label, edge.limits});
    links[edge.to].insert({edge.from, edge.label, edge.limits});
  }
  std::map<std::tuple<int, std::string, std::string, bool, Links>, std::vector<const TopologyNode*>> groups;
  for (const TopologyNode& node : graph.nodes) {
    if (levels.contains(node.level)) {
      groups[{node.level, numbered(node.label).first, node.detail, node.limits, links[node.id]}].push_back(
          &node);
    }
  }
  std::map<std::string, TopologyNode> by;
  for (const auto& [alike, group] : groups) {
    if (group.size() < 2) {
      continue;
    }
    TopologyNode node = *group.front();
    node.label = label_of(group);
    node.detail += node.detail.empty() ? "" : " each";
    for (const TopologyNode* member : group) {
      by[member->id] = node;
    }
  }
  return replaced(graph, by);
}

}  // namespace ringside::plots
