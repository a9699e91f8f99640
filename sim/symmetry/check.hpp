#pragma once

#include <string>
#include <vector>

#include "schedule/program/execution.hpp"
#include "sim/symmetry/partition.hpp"
#include "sim/topology/network.hpp"

namespace ringside {

/// What is wrong with a partition of this execution on this network, some sentences; empty where conditions
/// (1) to (4) of partition.hpp hold for every rank, link and move of the rounds that the stages tell. That
/// rounds repeat is the schedule's word (Schedule::repeats); a line's first and last times are checked.
/// Rounds, routes and waits are read anew, as the finder reads them; no step of its search is shared. Takes
/// time and memory in proportion to ranks, links and the moves of these rounds.
std::vector<std::string> check_partition(const Execution& execution, const Network& network,
                                         const Partition& partition);

}  // namespace ringside
