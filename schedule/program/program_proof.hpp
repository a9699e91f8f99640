#pragma once

#include <span>
#include <string>
#include <vector>

#include "results/policy.hpp"
#include "schedule/program/program.hpp"
#include "schedule/schedule.hpp"

namespace ringside {

/// What is wrong with the programs of all ranks (programs[r] is rank r's), one sentence each: a step that
/// touches what is in flight, messages of one direction that are received in another order than they are
/// sent, ranks that wait for each other, a result that is not as the collective promises. Empty = they keep
/// it in whatever order ranks and messages proceed.
std::vector<std::string> faults_of_programs(const Schedule& schedule, std::span<const Program> programs);

/// The proof of prove() for what runs: the schedule compiled for all ranks under a policy. Memory grows as
/// ranks² · chunks · segments.
std::vector<std::string> faults_under(const Schedule& schedule, const Vector& vector,
                                      const ExecutionPolicy& policy);

/// Before a schedule runs: throws Bug with the first fault of prove() or faults_under(). A ring of 16 ranks
/// takes a millisecond
/// and 40 for 50. What would take longer is not proved here: tests prove all algorithms.
void require_proof(const Schedule& schedule, const Vector& vector, const ExecutionPolicy& policy);

}  // namespace ringside
