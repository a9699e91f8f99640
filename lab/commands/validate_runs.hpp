#pragma once

#include <vector>

#include "cli/commands.hpp"
#include "lab/planning/decisions.hpp"
#include "lab/planning/published_runs.hpp"

namespace ringside::lab {

/// Every published run beside its plan, and every class beside the answers that need no planner.
void print_runs(const std::vector<RunCheck>& checks, const cli::CommonOptions& common);

/// How often plans choose the cheaper of two machines.
void print_decisions(const std::vector<Candidate>& candidates);

}  // namespace ringside::lab
