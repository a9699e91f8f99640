#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "common/point_key.hpp"
#include "real/collective_values.hpp"
#include "real/coordination.hpp"
#include "real/executor.hpp"
#include "real/memory.hpp"
#include "real/rank_backend.hpp"

namespace ringside {

/// A point made ready at one rank: what is timed, and what its result is checked with.
struct PreparedCall {
  CollectiveCall call;
  std::span<std::byte> message;
  std::function<void()> run;
  // Whichever of them the point needs.
  std::unique_ptr<Executor> executor;  ///< Of a schedule.
  Memory memory;                       ///< Of `native`.
};

/// Makes a point ready; called by all ranks of the point at once. Returns the same at every rank: nothing, or why some
/// rank could not.
std::optional<std::string> prepare(const PointKey& key, const RankBackend& backend,
                                   Coordination& coordination, PreparedCall& prepared);

/// What is wrong with the last call's result, at whichever rank; nothing when it is right everywhere. Called by all ranks
/// at once, and the same at all of them.
std::optional<std::string> wrong_result(const CollectiveValues& values, const PreparedCall& prepared,
                                        Rank rank, Coordination& coordination);

}  // namespace ringside
