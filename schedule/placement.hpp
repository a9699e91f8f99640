#pragma once

#include <vector>

#include "common/names.hpp"
#include "common/units.hpp"
#include "schedule/schedule.hpp"

namespace ringside {

/// How the ranks of a machine stand: sim finds it out, and real runs what was predicted.
struct RankPlacement {
  int ranks_per_node = 0;        ///< 0 = all ranks are in one node.
  std::vector<Rank> order = {};  ///< Position in a ring → rank; empty = identity.
};

/// Where each rank ends with its own part of the message (`scattered`), positions are ranks in any order.
ScheduleRequest request_for(Collective collective, int num_ranks, const RankPlacement& placement);

}  // namespace ringside
