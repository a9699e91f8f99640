#pragma once

#include <memory>

#include "real/backend/nccl/gpu_call.hpp"

namespace ringside {

/// NCCL's own collective, in place.
std::unique_ptr<ReadyCall> make_nccl_native(GpuStreams& streams, const CollectiveCall& call);

}  // namespace ringside
