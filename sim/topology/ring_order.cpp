#include "sim/topology/ring_order.hpp"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>

#include "common/numbers.hpp"

namespace ringside {

namespace {

constexpr int kTryAll = 8;
constexpr int kImprove = 64;

using Route = std::vector<std::int32_t>;

/// What a ring costs in which every rank sends to the next one at once. Less is better, first things first.
struct RingCost {
  /// Cost of the hop that gets least, seconds per byte, links shared among the hops.
  double inverse_bandwidth = 0;
  double latency = 0;              ///< Latency of the slowest hop.
  std::int64_t num_crossings = 0;  ///< Links crossed by all hops together.

  auto operator<=>(const RingCost&) const = default;
};

/// Routes between all pairs, looked up once: orders are compared by the thousand.
class Routes {
 public:
  Routes(const Topology& topology, int num_ranks)
      : links_(topology.links()),
        num_ranks_(num_ranks),
        routes_(at(num_ranks) * at(num_ranks)),
        crossings_(links_.size()) {
    for (Rank source = 0; source < num_ranks; ++source) {
      for (Rank target = 0; target < num_ranks; ++target) {
        topology.route(source, target, routes_[pair(source, target)]);
      }
    }
  }

  RingCost cost(std::span<const Rank> order) {
    hops_.clear();
    std::fill(crossings_.begin(), crossings_.end(), 0);
    for (std::size_t position = 0; position < order.size(); ++position) {
      hops_.push_back(&routes_[pair(order[position], order[position + 1 < order.size() ? position + 1 : 0])]);
      for (const std::int32_t link : *hops_.back()) {
        ++crossings_[at(link)];
      }
    }
    RingCost cost;
    for (const Route* hop : hops_) {
      double latency = 0;
      for (const std::int32_t id : *hop) {
        const Link& link = links_[at(id)];
        latency += link.latency.value;
        cost.inverse_bandwidth =
            std::max(cost.inverse_bandwidth, crossings_[at(id)] * inverse(link.capacity).value);
      }
      cost.latency = std::max(cost.latency, latency);
      cost.num_crossings += static_cast<std::int64_t>(hop->size());
    }
    return cost;
  }

 private:
  std::size_t pair(Rank source, Rank target) const { return at(source) * at(num_ranks_) + at(target); }

  std::span<const Link> links_;
  int num_ranks_;
  std::vector<Route> routes_;
  std::vector<int> crossings_;
  std::vector<const Route*> hops_;
};

/// A ring has no first rank, so that rank 0 may stay where it is.
void try_all(Routes& routes, std::vector<Rank>& best) {
  std::vector<Rank> order = best;
  RingCost least = routes.cost(best);
  while (std::next_permutation(order.begin() + 1, order.end())) {
    const RingCost cost = routes.cost(order);
    if (cost < least) {
      least = cost;
      best = order;
    }
  }
}

void improve(Routes& routes, std::vector<Rank>& best) {
  RingCost least = routes.cost(best);
  const auto begin = best.begin();
  const auto size = static_cast<std::ptrdiff_t>(best.size());
  for (bool improved = true; improved;) {
    improved = false;
    for (std::ptrdiff_t first = 1; first < size; ++first) {
      for (std::ptrdiff_t last = first + 2; last <= size; ++last) {
        std::reverse(begin + first, begin + last);
        const RingCost cost = routes.cost(best);
        if (cost < least) {
          least = cost;
          improved = true;
        } else {
          std::reverse(begin + first, begin + last);
        }
      }
    }
  }
}

}  // namespace

std::vector<Rank> choose_ring_order(const Topology& topology, int num_ranks) {
  std::vector<Rank> order(at(num_ranks));
  std::iota(order.begin(), order.end(), 0);
  if (num_ranks < 3 || num_ranks > kImprove) {
    return order;
  }
  Routes routes(topology, num_ranks);
  if (num_ranks <= kTryAll) {
    try_all(routes, order);
  } else {
    improve(routes, order);
  }
  return order;
}

}  // namespace ringside
