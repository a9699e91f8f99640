#pragma once

#include "real/execute/coordination.hpp"
#include "real/execute/rank_backend.hpp"
#include "real/measure/measure_options.hpp"
#include "results/point_key.hpp"

namespace ringside {

/// Measures one point; called by all ranks of the point at once. Returns the same at every rank. What only this
/// point needs and this machine cannot give (memory) is outcome `failed`; throws Error{peer_lost} when a rank is gone.
Measurement measure_point(const PointKey& key, const MeasureOptions& options, const RankBackend& backend,
                          Coordination& coordination);

}  // namespace ringside
