#include "sim/topology/route_cost.hpp"

#include <algorithm>
#include <limits>

#include "common/error.hpp"

namespace ringside {

RouteCost route_cost(std::span<const Link> links, std::span<const std::int32_t> route) {
  RINGSIDE_CHECK(!route.empty(), "two ranks of a network have no route");
  RouteCost cost;
  for (const std::int32_t id : route) {
    const Link& link = links[static_cast<std::size_t>(id)];
    const auto uses = std::ranges::count(route, id);
    cost.latency += link.latency.value;
    cost.inverse_bandwidth =
        std::max(cost.inverse_bandwidth, static_cast<double>(uses) * inverse(link.capacity).value);
  }
  return cost;
}

double rate_of(double inverse_bandwidth) {
  return inverse_bandwidth > 0 ? 1 / inverse_bandwidth : std::numeric_limits<double>::infinity();
}

double slowdown(const Network& network, Rank rank) {
  return network.slowdown.empty() ? 1 : network.slowdown[static_cast<std::size_t>(rank)];
}

bool has_stragglers(const Network& network) {
  return std::ranges::any_of(network.slowdown, [](double factor) { return factor != 1; });
}

double transfer_slowdown(const Network& network, Rank source, Rank target) {
  return std::max(slowdown(network, source), slowdown(network, target));
}

double reduction_cost(const Network& network, Rank rank) {
  if (network.uniform) {
    return network.uniform->reduction.value;
  }
  return network.reduction.empty() ? 0 : network.reduction[static_cast<std::size_t>(rank)].value;
}

bool reduces_in_time(const Network& network) {
  for (Rank rank = 0; rank < network.num_ranks; ++rank) {
    if (reduction_cost(network, rank) > 0) {
      return true;
    }
  }
  return false;
}

}  // namespace ringside
