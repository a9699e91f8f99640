#pragma once

#include "real/gpus.hpp"

namespace ringside {

/// gpu_machine() of a build that has CUDA.
GpuMachine gpu_inventory();

}  // namespace ringside
