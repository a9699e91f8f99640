#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "real/measure.hpp"
#include "real/rank_backend.hpp"

namespace ringside {

struct RankPlace {
  Backend backend = Backend::gloo;
  Rank rank = 0;
  int num_ranks = 1;
  int local_rank = 0;  ///< Among the ranks of this machine: decides which GPU.
  GpuOptions gpu = {};
  std::chrono::milliseconds timeout{60'000};
  std::optional<std::string> interface = {};  ///< None = loopback.
  std::string rendezvous;                     ///< file:///directory or redis://host:port
  std::string group;                          ///< Ranks that name the same group meet.
  Progress* progress = nullptr;               ///< Counts completed waits; may be null.
  /// Until all have met, who may still be starting; none: `timeout`, as for every other wait.
  std::optional<std::chrono::milliseconds> meeting_timeout = {};
};

/// Connects this process, as one rank, to the others. Throws Error{environment} when the interface or the rendezvous
/// is of no use, and PeerLost or Error{peer_lost} when the others do not come in time.
RankBackend join_ranks(const RankPlace& place);

/// `automatic` becomes the backend that every build has.
Backend resolve(Backend backend);

}  // namespace ringside
