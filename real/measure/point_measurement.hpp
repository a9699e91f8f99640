#pragma once

#include <optional>

#include "real/execute/coordination.hpp"
#include "real/execute/rank_backend.hpp"
#include "real/execute/ready_call.hpp"
#include "real/measure/measure_options.hpp"
#include "results/point_key.hpp"

namespace ringside {

/// Measures one point; called by all ranks of the point at once. Returns the same at every rank. What only this
/// point needs and this machine cannot give (memory) is outcome `failed`; throws Error{peer_lost} when a rank is gone.
Measurement measure_point(const PointKey& key, const MeasureOptions& options, const RankBackend& backend,
                          Coordination& coordination);

/// How calls got onto the ranks' devices, from how this rank's did: the slowest host counts, and one rank that launches call by call is said.
/// Called by all ranks at once; nothing without devices.
std::optional<CallLaunch> launch_of_all(std::optional<CallLaunch> launch, Coordination& coordination);

}  // namespace ringside
