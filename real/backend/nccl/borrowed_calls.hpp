#pragma once

#include <memory>

#include "real/backend/nccl/gpu_call.hpp"
#include "real/execute/device_calls.hpp"

namespace ringside {

/// Collectives and messages on GPU memory that others own.
std::unique_ptr<DeviceCalls> make_borrowed_calls(GpuStreams& streams);

}  // namespace ringside
