#pragma once

#include <string>
#include <vector>

#include "real/backend/gpus.hpp"

/// What `doctor` says of GPUs, for tests on machines without one.
namespace ringside::cli {

struct Finding {
  std::string what;
  std::string state;  ///< yes, no, or a value
  std::string detail;
};

/// GPUs and all that ranks on them need.
std::vector<Finding> gpu_findings(const GpuMachine& machine);

}  // namespace ringside::cli
