#pragma once

#include <optional>
#include <string>

#include "results/point.hpp"
#include "scenario/machine/machine.hpp"
#include "sim/engine/simulate.hpp"
#include "sim/nccl/posterior.hpp"

/// What `machine.known` says, in the terms of NcclPosterior.
namespace ringside {

/// All that is known. Throws Error{bad_input} for a value that this machine cannot have.
NcclKnowledge nccl_knowledge(const Machine& machine, const NcclSystem& asked);

/// What a copy between two GPUs of a node usually gets, by the description; none where that does not say.
std::optional<BytesPerSecond> usual_copy(const Machine& machine);

/// The machine with links between GPUs of one node that give the known copies their bandwidth, where one is
/// known. Throws Error{bad_input} when no such links can.
Machine with_known_copies(const Machine& machine);

/// How a schedule of ours is predicted from the machine's description; none where that does not decide:
/// without a schedule for these ranks, on links whose numbers were given, and where ranks were calibrated.
std::optional<ScheduleTime> schedule_time(const Machine& machine, const PointKey& key);

/// Why a known value bears on no prediction of this point; empty when it does.
std::string why_useless(const Machine& machine, const Known& known, const PointKey& key, NativeModel model);

}  // namespace ringside
