#pragma once

#include <cstddef>
#include <memory>

#include "real/backend/nccl/gpu_call.hpp"

namespace ringside {

/// NCCL's own collective, in place on `message`, or on a message of its own where that is null.
std::unique_ptr<GpuWork> make_native_work(GpuStreams& streams, const CollectiveCall& call,
                                          std::byte* message = nullptr);

}  // namespace ringside
