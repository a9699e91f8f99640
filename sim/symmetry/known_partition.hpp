#pragma once

#include <optional>
#include <vector>

#include "schedule/program/execution.hpp"
#include "sim/symmetry/partition.hpp"
#include "sim/topology/network.hpp"

namespace ringside {

/// A partition that was found on one network, to be tried on the next.
struct KnownPartition {
  Partition partition;
  std::vector<bool> carried;  ///< By link: whether a move carries bytes over it.
};

/// The partition with the numbers of another network: each class has those of its first member. A proposal:
/// whether the other members have them, too, is for the checker to say. None where the execution has other
/// ranks, links or rounds than the partition.
std::optional<Partition> with_numbers_of(const Partition& known, const Execution& execution,
                                         const Network& network);

}  // namespace ringside
