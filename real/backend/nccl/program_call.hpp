#pragma once

#include <cstddef>
#include <memory>

#include "real/backend/nccl/gpu_call.hpp"
#include "schedule/program/program.hpp"

namespace ringside {

/// A program, as group calls and kernels; in place on `message`, or with its own where that is null.
std::unique_ptr<GpuWork> make_program_work(GpuStreams& streams, const Program& program,
                                           std::byte* message = nullptr);

}  // namespace ringside
