#pragma once

#include <optional>
#include <string>

#include "common/point_key.hpp"
#include "real/backends.hpp"

/// Ranks on GPUs, connected by NCCL. They meet through Gloo, as CPU ranks do, and agree over it on what to do next.
namespace ringside {

/// Takes this rank's GPU and connects to all other ranks. Throws Error{environment} when NCCL, the GPU or the rendezvous
/// is of no use, and Error{peer_lost} when the others do not come in time.
RankBackend join_nccl(const RankPlace& place);

}  // namespace ringside
