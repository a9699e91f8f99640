#pragma once

#include <cstdint>
#include <vector>

#include "sim/symmetry/partition.hpp"
#include "sim/symmetry/quotient.hpp"

namespace ringside {

/// simulate_stage() of a stage whose flows never hold each other back (PartitionStage::free_flow): every
/// transfer has its latency and its own rate, so that rounds need no queue of events.
StageOutcome run_freely(const PartitionStage& stage, const std::vector<StageOutcome>& before,
                        std::int64_t most_events);

}  // namespace ringside
