#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/names.hpp"
#include "common/units.hpp"
#include "real/execute/progress.hpp"

namespace ringside {

/// What is said about ranks on GPUs; of no meaning to other backends.
struct GpuOptions {
  int ranks_per_gpu = 1;  ///< More than one is for trying the path where GPUs are few.
  /// Environment variables of NCCL for every rank, such as {"NCCL_ALGO", "Ring"}.
  std::vector<std::pair<std::string, std::string>> settings = {};
};

/// What a rank must know to meet the others.
struct RankPlace {
  Backend backend = Backend::automatic;
  Rank rank = 0;
  int num_ranks = 1;
  int local_rank = 0;  ///< Among the ranks of this machine: decides which GPU.
  GpuOptions gpu = {};
  std::chrono::milliseconds timeout{60'000};
  std::optional<std::string> interface = {};  ///< None = loopback.
  std::string rendezvous = {};                ///< file:///directory, redis://host:port or env://
  std::string group = {};                     ///< Ranks that name the same group meet.
  Progress* progress = nullptr;               ///< Counts completed waits; may be null.
  /// Until all have met, who may still be starting; none: `timeout`, as for every other wait.
  std::optional<std::chrono::milliseconds> meeting_timeout = {};
};

}  // namespace ringside
