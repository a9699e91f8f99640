#pragma once

#include <memory>
#include <optional>
#include <string>

#include "real/execute/collective_values.hpp"
#include "real/execute/coordination.hpp"
#include "real/execute/rank_backend.hpp"
#include "real/execute/ready_call.hpp"
#include "results/point.hpp"
#include "results/policy.hpp"
#include "schedule/schedule.hpp"

namespace ringside {

/// A point made ready at one rank: what is timed, and what its result is checked with.
struct PreparedCall {
  CollectiveCall call;
  std::optional<ExecutionPolicy> policy = {};  ///< Under which the schedule runs; none for `native`.
  std::unique_ptr<ReadyCall> ready;
};

/// The schedule of a point that is not `native`, which the backend supports.
Schedule schedule_of(const PointKey& key, const RankPlacement& placement);

/// Makes a point ready and warms it up; called by all ranks of the point at once. Returns the same at every
/// rank: nothing, or why some rank could not.
std::optional<std::string> prepare(const PointKey& key, const RankPlacement& placement,
                                   const RankBackend& backend, Coordination& coordination,
                                   PreparedCall& prepared);

/// What is wrong with a result, at whichever rank, in a sentence; nothing when it is right everywhere. `own`
/// is the first wrong element at this rank. Called by all ranks at once, and the same at all of them.
std::optional<std::string> wrong_result(const CollectiveValues& values,
                                        const std::optional<WrongElement>& own, Coordination& coordination);

}  // namespace ringside
