#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/topology/network.hpp"

/// In which order a ring should go through the ranks.
namespace ringside {

/// What a ring costs in which every rank sends to the next one at once. Less is better, first things first.
struct RingCost {
  /// Cost of the hop that gets least, seconds per byte, links shared among the hops.
  double inverse_bandwidth = 0;
  double latency = 0;              ///< Latency of the slowest hop.
  std::int64_t num_crossings = 0;  ///< Links crossed by all hops together.

  auto operator<=>(const RingCost&) const = default;
};

/// `order` holds every rank once, at least two of them.
RingCost ring_cost(const Topology& topology, std::span<const Rank> order);

/// The best order of ranks 0 … num_ranks−1: of all for up to 8 ranks; for up to 64 the best that reversing
/// stretches of an order finds (2-opt); identity beyond, and wherever nothing is better than identity.
std::vector<Rank> choose_ring_order(const Topology& topology, int num_ranks);

}  // namespace ringside
