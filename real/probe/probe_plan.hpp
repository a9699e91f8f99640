#pragma once

#include <vector>

#include "common/units.hpp"
#include "results/probe_sample.hpp"

/// What is probed of which ranks, before any of them starts. `in_memory`: they send through memory that all
/// of them see.
namespace ringside {

/// Ranks that start together, and what they probe.
struct ProbeGroup {
  int num_ranks = 2;
  std::vector<ProbeKey> keys = {};
};

/// The smallest multiple of every element size that is not more than asked for. Throws Error{bad_input} where
/// there is none.
Bytes usable_max(Bytes max_bytes);

/// A pair always, then every number of ranks asked for.
std::vector<ProbeGroup> local_groups(std::vector<int> ranks, Bytes max_bytes, bool in_memory);

/// Everything at once: another launcher's ranks are as many as they are.
ProbeGroup group_of_all(int num_ranks, Bytes max_bytes, bool in_memory);

/// Ranks of several nodes, `per_node` on each, one node after another. A pair of one node, a pair of two, and
/// all ranks of a node at once to those of the next: exchanges of neighbours would mix both sorts of links.
ProbeGroup group_of_nodes(int num_ranks, int per_node, Bytes max_bytes, bool in_memory);

/// Every pair of them, in each direction.
ProbeGroup group_of_pairs(int num_ranks, Bytes max_bytes);

}  // namespace ringside
