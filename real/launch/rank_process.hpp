#pragma once

#include <span>
#include <string>

namespace ringside {

/// The body of a rank process: `ringside rank …`, as start_processes() starts it. Returns the exit status.
int run_rank_process(std::span<const std::string> arguments);

}  // namespace ringside
