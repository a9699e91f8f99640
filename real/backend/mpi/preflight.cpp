#include <array>
#include <climits>
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

/// What each rank says, cut where it is long.
std::vector<std::string> said_by_all(std::string own, MpiLibrary& library, int& error) {
  constexpr std::size_t kLength = 128;
  own.resize(kLength, ' ');
  std::vector<char> all(kLength * static_cast<std::size_t>(library.num_ranks()));
  error = library.all_gather(own, all);
  std::vector<std::string> said;
  for (std::size_t at = 0; at < all.size(); at += kLength) {
    const std::string text(all.data() + at, kLength);
    said.push_back(text.substr(0, text.find_last_not_of(' ') + 1));
  }
  return said;
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
  int error = 0;
  const std::vector<std::string> said =
      said_by_all(fmt::format("ringside {} with {}", RINGSIDE_VERSION, library.version()), library, error);
  if (error != 0) {
    return fmt::format("MPI cannot gather what the ranks run: {}", library.text_of(error));
  }
  for (std::size_t rank = 1; rank < said.size(); ++rank) {
    if (said[rank] != said[0]) {
      return fmt::format("rank 0 is {}, and rank {} is {}; install the same on all nodes", said[0], rank,
                         said[rank]);
    }
  }
  return std::nullopt;
}

int find_ranks_elsewhere(MpiLibrary& library, std::vector<bool>& elsewhere) {
  std::array<char, HOST_NAME_MAX + 1> host{};
  ::gethostname(host.data(), host.size() - 1);
  int error = 0;
  const std::vector<std::string> hosts = said_by_all(host.data(), library, error);
  elsewhere.clear();
  for (const std::string& other : hosts) {
    elsewhere.push_back(other != hosts[static_cast<std::size_t>(library.rank())]);
  }
  return error;
}

}  // namespace ringside
