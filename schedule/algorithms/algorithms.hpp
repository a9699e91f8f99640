#pragma once

#include "schedule/schedule.hpp"

/// One function per algorithm: its row of the registry.
namespace ringside {

Algorithm naive_all_reduce();
Algorithm circulating_ring_all_reduce();
Algorithm tutorial_ring_all_reduce();
Algorithm ring_all_reduce();
Algorithm pipelined_ring_all_reduce();
Algorithm binomial_tree_all_reduce();
Algorithm double_binary_tree_all_reduce();
Algorithm recursive_doubling_all_reduce();
Algorithm halving_doubling_all_reduce();
Algorithm direct_all_reduce();
Algorithm direct_two_shot_all_reduce();
Algorithm hierarchical_all_reduce();

Algorithm naive_reduce_scatter();
Algorithm ring_reduce_scatter();
Algorithm pairwise_reduce_scatter();
Algorithm recursive_halving_reduce_scatter();
Algorithm butterfly_reduce_scatter();

Algorithm naive_all_gather();
Algorithm ring_all_gather();
Algorithm recursive_doubling_all_gather();
Algorithm neighbour_exchange_all_gather();

Algorithm naive_broadcast();
Algorithm ring_broadcast();
Algorithm binomial_tree_broadcast();
Algorithm binary_tree_broadcast();
Algorithm knomial_tree_broadcast();
Algorithm scatter_all_gather_broadcast();

Algorithm naive_reduce();
Algorithm ring_reduce();
Algorithm binomial_tree_reduce();

Algorithm naive_gather();
Algorithm ring_gather();
Algorithm binomial_tree_gather();

Algorithm naive_all_to_all();
Algorithm pairwise_all_to_all();
Algorithm direct_all_to_all();

Algorithm direct_send_recv();

}  // namespace ringside
