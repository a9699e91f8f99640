#pragma once

#include <string>

#include "common/units.hpp"
#include "results/policy.hpp"
#include "scenario/machine/execution_rules.hpp"
#include "schedule/schedule.hpp"

namespace ringside {

/// The policy under which ranks that follow `rules` run a schedule with a message of `size` bytes.
///
/// Chunks are cut where they are long and every rank sends one message to one and the same peer in every
/// round: links are then always busy, and segments save memory traffic and waiting. (`naive` in segments
/// would be another algorithm, whose broadcast begins before its sum is complete.)
ExecutionPolicy policy_for(const Schedule& schedule, Bytes size, const ExecutionRules& rules);

/// `receives posted ahead, each chunk in 11 segments, 4 in flight`.
std::string describe(const ExecutionPolicy& policy);

}  // namespace ringside
