#pragma once

#include <memory>

#include "real/backend/rank_place.hpp"
#include "real/backend/shm/group.hpp"
#include "real/execute/transport.hpp"

namespace ringside {

/// Messages through shared memory. Short ones are copied into the sender's channel and have left; longer ones
/// are read in place once both sides have come: a rank moves what it receives while it waits.
std::unique_ptr<Transport> make_shm_transport(std::shared_ptr<ShmGroup> group, Progress* progress);

}  // namespace ringside
