#pragma once

#include <optional>
#include <string>

#include "results/point_key.hpp"

namespace ringside {

/// Why NCCL has no collective of its own for this point.
std::optional<std::string> nccl_native_unsupported(const PointKey& key);

}  // namespace ringside
