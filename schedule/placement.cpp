#include "schedule/placement.hpp"

#include "schedule/promise.hpp"

namespace ringside {

ScheduleRequest request_for(Collective collective, int num_ranks, const RankPlacement& placement) {
  return {.collective = collective,
          .num_ranks = num_ranks,
          .ranks_per_node = placement.ranks_per_node,
          .order = scattered(collective) ? std::vector<Rank>{} : placement.order};
}

}  // namespace ringside
