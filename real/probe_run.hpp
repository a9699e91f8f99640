#pragma once

#include <vector>

#include "real/coordination.hpp"
#include "real/probe.hpp"
#include "real/rank_backend.hpp"

namespace ringside {

/// Runs one probe; called by all ranks at once. Returns seconds per repetition of what ProbeKind says; the same at
/// every rank. Ranks that a probe leaves out (all but 0 and 1, or all but 0) wait meanwhile.
std::vector<double> run_probe(const ProbeKey& key, Seconds budget, const RankBackend& backend,
                              Coordination& coordination);

}  // namespace ringside
