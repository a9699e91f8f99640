#pragma once

#include "real/backend/rank_place.hpp"
#include "real/execute/rank_backend.hpp"

/// Ranks that meet through Gloo: its TCP transport for schedules, its own collectives as `native`.
namespace ringside {

/// Connects to all other ranks. Throws Error{environment} when the interface or the rendezvous is of no use,
/// and Error{peer_lost} when the others do not come in time.
RankBackend join_gloo(const RankPlace& place);

}  // namespace ringside
