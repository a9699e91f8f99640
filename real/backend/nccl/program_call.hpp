#pragma once

#include <memory>

#include "real/backend/nccl/gpu_call.hpp"
#include "schedule/program/program.hpp"

namespace ringside {

/// A program, as group calls and kernels.
std::unique_ptr<ReadyCall> make_program_call(GpuStreams& streams, const Program& program);

}  // namespace ringside
