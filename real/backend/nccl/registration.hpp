#pragma once

#include "real/backend/backends.hpp"

namespace ringside {

/// NCCL's row, in every build.
RegisteredBackend nccl_backend();

}  // namespace ringside
