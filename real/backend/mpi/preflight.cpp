#include "real/backend/mpi/preflight.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

namespace ringside {
namespace {

/// What a rank says of itself, cut or filled up with blanks.
using Introduction = std::array<char, 128>;

Introduction introduction(MpiLibrary& library) {
  Introduction text;
  text.fill(' ');
  const std::string own = fmt::format("ringside {} with {}", RINGSIDE_VERSION, library.version());
  std::copy_n(own.begin(), std::min(own.size(), text.size()), text.begin());
  return text;
}

std::string text_of(std::span<const char> introduction) {
  const std::string text(introduction.begin(), introduction.end());
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

}  // namespace

std::optional<std::string> launch_fault(const StartedAs& started, MpiLibrary& library) {
  const int found = library.num_ranks();
  if (found == 1 && started.num_ranks > 1) {
    return fmt::format(
        "asked {0}, found {0} times 1: each rank was started alone; with srun use --mpi=pmix, otherwise the "
        "mpirun of {1}, which this ringside was built with",
        started.num_ranks, library.version());
  }
  if (found != started.num_ranks) {
    return fmt::format("the launcher says that it started {} ranks, and MPI_COMM_WORLD has {}",
                       started.num_ranks, found);
  }
  const Introduction own = introduction(library);
  std::vector<char> all(own.size() * static_cast<std::size_t>(found));
  if (const int error = library.all_gather(own, all)) {
    return fmt::format("MPI cannot gather what the ranks run: {}", library.text_of(error));
  }
  const auto said_by = [&](int rank) {
    return text_of(std::span(all).subspan(static_cast<std::size_t>(rank) * own.size(), own.size()));
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
