#pragma once

#include <span>
#include <string>

#include "real/launch/rank_task.hpp"

namespace ringside {

/// The body of a rank process of start_processes(): does tasks of these kinds. Returns the exit status.
int run_rank_process(std::span<const std::string> arguments, std::span<const TaskKind> kinds);

}  // namespace ringside
