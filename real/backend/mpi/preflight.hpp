#pragma once

#include <optional>
#include <string>

#include "real/backend/mpi/library.hpp"

namespace ringside {

/// How this process was started, as its launcher says in its environment.
struct StartedAs {
  Rank rank = 0;
  int num_ranks = 1;
};

/// Called by all ranks at once, after MpiLibrary::init(): what is wrong with how they were started, in one
/// sentence that is the same at all of them; nothing where they can work together.
std::optional<std::string> launch_fault(const StartedAs& started, MpiLibrary& library);

}  // namespace ringside
