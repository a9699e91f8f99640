#pragma once

#include <cstdint>
#include <vector>

#include "sim/symmetry/partition.hpp"

/// The flow simulation of a partition: one member of each class, with the numbers of the others.
namespace ringside {

/// What limited a class of links, as LinkUse (sim/sharing/link_use.hpp).
struct ClassUse {
  double limiting_time = 0;
  std::int32_t flows = 0;
  std::int32_t crossings = 0;
};

/// Reductions of one round of a rank that were pending at the end of a stage.
struct OwedReduction {
  std::int32_t rounds_ago = 0;  ///< 0 = the last round that the rank had.
  double done = 0;              ///< When they are complete, seconds from the start of the execution.
};

/// Times are seconds from the start of the execution.
struct StageOutcome {
  double start = 0;
  double end = 0;            ///< The last round of every rank is complete.
  double settled = 0;        ///< So are all reductions.
  std::int64_t events = 0;   ///< That were simulated.
  bool overlaps = false;     ///< A transfer would have started before `start`.
  bool given_up = false;     ///< It overlaps, or there were too many events; the rest is not filled.
  std::vector<double> done;  ///< By class of moves: when the last of its rounds was complete.
  std::vector<std::vector<OwedReduction>> owed;  ///< By class of ranks.
  std::vector<ClassUse> links;                   ///< By class of links.
};

/// Simulates stages one after another. Rounds that repeat are simulated until the state of all classes comes
/// again, some rounds later: from then on it comes again and again, and only the clock is moved on.
StageOutcome simulate_stage(const PartitionStage& stage, const std::vector<StageOutcome>& before,
                            std::int64_t most_events);

}  // namespace ringside
