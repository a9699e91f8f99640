#pragma once

#include <vector>

#include "real/execute/coordination.hpp"
#include "real/execute/rank_backend.hpp"
#include "real/probe/probe.hpp"

namespace ringside {

/// Runs one probe; called by all ranks at once. Returns seconds per repetition of what the row of its kind says; the same at
/// every rank. Ranks that have no part in a probe wait meanwhile.
std::vector<double> run_probe(const ProbeKey& key, Seconds budget, const RankBackend& backend,
                              Coordination& coordination);

}  // namespace ringside
