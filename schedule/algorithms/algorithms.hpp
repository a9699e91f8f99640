#pragma once

#include <vector>

#include "schedule/schedule.hpp"

/// Rows of the registry, by file.
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

std::vector<Algorithm> reduce_scatters();
std::vector<Algorithm> all_gathers();
std::vector<Algorithm> broadcasts();
std::vector<Algorithm> reduces();
std::vector<Algorithm> gathers();
std::vector<Algorithm> all_to_alls();
std::vector<Algorithm> send_recvs();

}  // namespace ringside
