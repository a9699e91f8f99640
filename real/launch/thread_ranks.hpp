#pragma once

#include <memory>

#include "real/launch/launch_options.hpp"
#include "real/launch/ranks.hpp"

namespace ringside {

/// Ranks that are threads of this process.
std::unique_ptr<Ranks> start_threads(int num_ranks, const LaunchOptions& options);

}  // namespace ringside
