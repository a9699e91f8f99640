#pragma once

#include <memory>
#include <optional>
#include <string>

#include "common/point_key.hpp"
#include "real/collective_values.hpp"
#include "real/coordination.hpp"
#include "real/rank_backend.hpp"
#include "real/ready_call.hpp"
#include "schedule/placement.hpp"
#include "schedule/schedule.hpp"

namespace ringside {

/// A point made ready at one rank: what is timed, and what its result is checked with.
struct PreparedCall {
  CollectiveCall call;
  std::unique_ptr<ReadyCall> ready;
};

/// The schedule of a point that is not `native`, which the backend supports.
Schedule schedule_of(const PointKey& key, const RankPlacement& placement);

/// Makes a point ready and warms it up; called by all ranks of the point at once. Returns the same at every rank: nothing,
/// or why some rank could not.
std::optional<std::string> prepare(const PointKey& key, const RankPlacement& placement,
                                   const RankBackend& backend, Coordination& coordination,
                                   PreparedCall& prepared);

/// What is wrong with the last call's result, at whichever rank; nothing when it is right everywhere. Called by all ranks
/// at once, and the same at all of them.
std::optional<std::string> wrong_result(const CollectiveValues& values, ReadyCall& ready,
                                        Coordination& coordination);

}  // namespace ringside
