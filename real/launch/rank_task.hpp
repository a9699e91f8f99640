#pragma once

#include <string>

#include "real/execute/coordination.hpp"
#include "real/execute/rank_backend.hpp"

namespace ringside {

/// A kind of work that ranks do together. Who starts them knows neither its requests nor its results: both
/// are JSON (message.hpp), which reaches ranks in other processes, too.
struct TaskKind {
  const char* name;
  /// Called by all ranks at once; the result of rank 0 counts. Throws what the work throws.
  std::string (*run)(const std::string& request, const RankBackend& backend, Coordination& coordination);
};

struct Task {
  const TaskKind& kind;
  std::string request;
  std::string doing;  ///< Completes "rank 2 was killed by signal 9 while …".
};

}  // namespace ringside
