#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "common/units.hpp"
#include "real/store/tcp_store_server.hpp"

namespace ringside {

/// Ranks of another launcher that meet at MASTER_ADDR:MASTER_PORT.
struct StoreMeeting {
  std::string group;  ///< What ranks of other runs have not.
  Rank rank = 0;
  int num_ranks = 1;
  std::chrono::milliseconds timeout{60'000};
};

/// Called by rank 0 of all ranks, before they meet: serves the store. Nothing where torchrun does.
std::unique_ptr<TcpStoreServer> serve_store(const StoreMeeting& meeting);

/// Called by all ranks at once: a name below `group` that no earlier run has used, the same at all of them.
/// What a run that was killed has left in the store is passed over. Throws Error{bad_input} when the
/// environment tells no place, or ranks differ in how many they are, and Error{peer_lost} when others do not
/// come in time.
std::string agree_on_name(const StoreMeeting& meeting);

}  // namespace ringside
