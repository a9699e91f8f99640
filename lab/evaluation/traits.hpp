#pragma once

#include <string>
#include <vector>

#include "sim/nccl/system.hpp"

namespace ringside {

/// What of a system's description may be behind an error, in words: `GPUs of hopper`, `one GPU per node`.
std::vector<std::string> traits_of(const NcclSystem& system);

}  // namespace ringside
