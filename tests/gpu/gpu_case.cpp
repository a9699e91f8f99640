#include "tests/gpu/gpu_case.hpp"

#include "real/backend/gpus.hpp"

namespace ringside {

std::optional<std::string> no_gpu_because() { return missing_for_nccl(gpu_machine()); }

}  // namespace ringside
