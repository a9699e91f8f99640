#pragma once

#include "real/backend/backends.hpp"

namespace ringside {

/// Gloo's row, in every build.
RegisteredBackend gloo_backend();

}  // namespace ringside
