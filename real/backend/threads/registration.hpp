#pragma once

#include "real/backend/backends.hpp"

namespace ringside {

/// Ranks that are threads of this process (threads/transport.hpp).
RegisteredBackend threads_backend();

}  // namespace ringside
