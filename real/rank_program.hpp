#pragma once

#include <span>
#include <string>

namespace ringside {

/// `ringside rank …`: a rank process that does all that ranks are asked for. Returns the exit status.
int run_rank(std::span<const std::string> arguments);

}  // namespace ringside
