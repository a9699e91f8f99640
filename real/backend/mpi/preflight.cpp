#include <cstdlib>
#include <string_view>
#include <vector>

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
  if (found == 1 && started.num_ranks > 1) {
    return alone(started, library);
  }
  if (found != started.num_ranks) {
    return fmt::format("the launcher says that it started {} ranks, and MPI_COMM_WORLD has {}",
                       started.num_ranks, found);
  }
  constexpr std::size_t kLength = 128;
  std::string own = fmt::format("ringside {} with {}", RINGSIDE_VERSION, library.version());
  own.resize(kLength, ' ');
  std::vector<char> all(kLength * static_cast<std::size_t>(found));
  if (const int error = library.all_gather(own, all)) {
    return fmt::format("MPI cannot gather what the ranks run: {}", library.text_of(error));
  }
  const auto said_by = [&](int rank) {
    const std::string text(all.data() + static_cast<std::size_t>(rank) * kLength, kLength);
    return text.substr(0, text.find_last_not_of(' ') + 1);
  };
  for (int rank = 1; rank < found; ++rank) {
    if (said_by(rank) != said_by(0)) {
      return fmt::format("rank 0 is {}, and rank {} is {}; install the same on all nodes", said_by(0), rank,
                         said_by(rank));
    }
  }
  return std::nullopt;
}

}  // namespace ringside
