#pragma once

#include <optional>
#include <string>

#include "common/units.hpp"

namespace ringside {

/// This process as mpirun, srun or torchrun started it.
struct ExternalRank {
  Rank rank = 0;
  int num_ranks = 1;
  int local_rank = 0;    ///< Among the ranks of this machine.
  int num_local = 1;     ///< Ranks of this machine, or of the first; all of them where nobody says it.
  std::string launcher;  ///< "Open MPI", "PMI", "Slurm" or "torchrun"
  std::string job;       ///< Names this run among others of the same launcher; may be empty.
};

/// Ranks of each node, where several ranks are on each of several nodes: rank 0's node first, then the next.
/// Nothing where all nodes together are alike: one node, or one rank on each.
std::optional<int> ranks_per_node(const ExternalRank& external);

/// From the environment variables of these launchers; nothing when this process stands alone. Throws
/// Error{bad_input} when they contradict themselves. A launcher's only rank may start ranks of its own: it
/// counts as one where `only_rank` says so.
std::optional<ExternalRank> external_rank(bool only_rank = false);

}  // namespace ringside
