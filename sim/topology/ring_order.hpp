#pragma once

#include <vector>

#include "sim/topology/network.hpp"

/// In which order a ring should go through the ranks.
namespace ringside {

/// The best order of ranks 0 … num_ranks−1: of all for up to 8 ranks; for up to 64 the best that reversing
/// stretches of an order finds (2-opt); identity beyond, and wherever nothing is better than identity.
std::vector<Rank> choose_ring_order(const Topology& topology, int num_ranks);

}  // namespace ringside
