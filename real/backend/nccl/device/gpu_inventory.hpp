#pragma once

#include "real/backend/gpus.hpp"

namespace ringside {

/// gpu_machine() of a build that has CUDA.
GpuMachine gpu_inventory();

}  // namespace ringside
