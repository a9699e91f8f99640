#include "sim/sharing/link_use.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "sim/topology/route_cost.hpp"

namespace ringside {

namespace {

constexpr std::size_t kMostLimits = 3;

bool alike(const Limit& a, const Limit& b) {
  return a.link_kind == b.link_kind && a.link_kind != LinkKind::other && a.flows == b.flows &&
         a.crossings == b.crossings;
}

Link port(std::int32_t id) {
  Link link;
  link.name = port_name(id);
  link.kind = leads_out(id) ? LinkKind::gpu_up : LinkKind::gpu_down;
  return link;
}

}  // namespace

std::vector<Limit> limits_of(const Network& network, std::span<const LinkUse> links) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (links[i].limiting_time > 0) {
      order.push_back(i);
    }
  }
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return links[a].limiting_time > links[b].limiting_time; });
  std::vector<Limit> limits;
  for (const std::size_t i : order) {
    const Link link =
        network.topology == nullptr ? port(static_cast<std::int32_t>(i)) : network.topology->links()[i];
    Limit limit = {.link_kind = link.kind,
                   .link = name_of(link),
                   .node = link.node < 0 ? std::nullopt : std::optional<int>(link.node),
                   .flows = links[i].flows,
                   .crossings = links[i].crossings};
    const auto same = std::ranges::find_if(limits, [&](const Limit& other) { return alike(other, limit); });
    if (same != limits.end()) {
      same->others = true;
    } else if (limits.size() < kMostLimits) {
      limits.push_back(std::move(limit));
    }
  }
  return limits;
}

std::optional<NicUse> nics_of(const Network& network, std::span<const LinkUse> links) {
  if (network.nics_per_node == 0) {
    return std::nullopt;
  }
  std::vector<int> used;  // By node.
  int links_of_first = 0;
  for (std::size_t i = 0; i < links.size(); ++i) {
    const Link& link = network.topology->links()[i];
    if (link.kind == LinkKind::nic_out) {
      const auto node = static_cast<std::size_t>(std::max(link.node, 0));
      used.resize(std::max(used.size(), node + 1));
      used[node] += links[i].carried ? 1 : 0;
      links_of_first += node == 0 ? 1 : 0;
    }
  }
  if (links_of_first == 0) {
    return std::nullopt;
  }
  // Where there are more NICs than GPUs, one of these links stands for several.
  const int most = *std::ranges::max_element(used);
  return NicUse{.used = most * network.nics_per_node / links_of_first, .of = network.nics_per_node};
}

}  // namespace ringside
