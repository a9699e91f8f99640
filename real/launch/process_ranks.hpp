#pragma once

#include <memory>

#include "real/launch/launch_options.hpp"
#include "real/launch/ranks.hpp"
#include "real/system/interrupt.hpp"

namespace ringside {

/// Starts ranks as processes of this program, each in front of a control socket. Their destructor ends them, whatever
/// they do, and removes what they shared. `interrupts` must outlive them.
std::unique_ptr<Ranks> start_processes(int num_ranks, const LaunchOptions& options,
                                       InterruptGuard& interrupts);

}  // namespace ringside
