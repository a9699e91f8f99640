#include <cstdlib>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "real/backend/mpi/parts.hpp"

namespace ringside {
namespace {

std::string alone(const StartedAs& started, MpiLibrary& library) {
  return fmt::format(
      "asked {0}, found {0} times 1: each rank was started alone; with srun use --mpi=pmix, otherwise the "
      "mpirun of {1}, which this ringside was built with",
      started.num_ranks, library.version());
}

}  // namespace

std::optional<std::string> started_alone(const StartedAs& started, MpiLibrary& library) {
  // Whoever brings ranks together says so in variables: PMIX_NAMESPACE, PMI_RANK, PMI_JOBID and more.
  bool together = std::getenv("SLURM_STEP_ID") == nullptr || started.num_ranks == 1;
  for (char** variable = environ; *variable != nullptr && !together; ++variable) {
    together = std::string_view(*variable).starts_with("PMI");
  }
  return together ? std::nullopt : std::optional(alone(started, library));
}

std::optional<std::string> launch_fault(const StartedAs& started, MpiLibrary& library) {
  const int found = library.num_ranks();
  if (found == started.num_ranks) {
    return std::nullopt;
  }
  return found == 1 ? alone(started, library)
                    : fmt::format("the launcher says that it started {} ranks, and MPI_COMM_WORLD has {}",
                                  started.num_ranks, found);
}

}  // namespace ringside
