#pragma once

#include "real/backend/rank_place.hpp"
#include "real/execute/rank_backend.hpp"

/// Ranks on GPUs, connected by NCCL. They meet through Gloo, and agree over it on the next step.
namespace ringside {

/// Takes this rank's GPU and connects to all other ranks. Throws Error{environment} when NCCL, the GPU or the
/// rendezvous is of no use, and Error{peer_lost} when the others do not come in time.
RankBackend join_nccl(const RankPlace& place);

}  // namespace ringside
