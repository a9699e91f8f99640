#pragma once

#include <optional>

#include "real/execute/coordination.hpp"
#include "real/execute/rank_backend.hpp"
#include "real/execute/ready_call.hpp"
#include "real/launch/rank_task.hpp"
#include "real/measure/point_request.hpp"
#include "results/measurement.hpp"

namespace ringside {

/// Measures one point; called by all ranks of the point at once. Returns the same at every rank. Too little
/// memory for this point is outcome `failed`; throws Error{peer_lost} when a rank is gone.
Measurement measure_point(const PointRequest& request, const RankBackend& backend,
                          Coordination& coordination);
extern const TaskKind kMeasurePoint;

/// How calls got onto the ranks' devices, from how this rank's did: the slowest host counts, and one rank
/// that launches call by call is said. Called by all ranks at once; nothing without devices.
std::optional<CallLaunch> launch_of_all(std::optional<CallLaunch> launch, Coordination& coordination);

}  // namespace ringside
