#pragma once

#include "real/execute/coordination.hpp"
#include "real/execute/rank_backend.hpp"
#include "real/launch/rank_task.hpp"
#include "results/probe_sample.hpp"

namespace ringside {

struct ProbeRequest {
  ProbeKey key;
  Seconds budget = {};
};

template <>
const FieldTable<ProbeRequest>& field_table();

/// Runs one probe; called by all ranks at once. Its result is seconds per repetition of what the row of its
/// kind says, a vector of double; the same at every rank. Ranks that have no part in a probe wait meanwhile.
extern const TaskKind kProbe;

}  // namespace ringside
