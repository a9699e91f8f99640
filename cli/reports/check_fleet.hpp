#pragma once

#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "study/logs/check.hpp"

/// What `ringside check` says of many logs at once.
namespace ringside::cli {

/// A line per log, and the slow nodes and pairs of nodes; `problems`: of logs that could not be checked.
void print_checks(const std::vector<study::LogCheck>& checks, const std::vector<std::string>& problems,
                  const CommonOptions& common);
/// `check_map`: logs × bands; `check_pairs`: nodes × nodes, of logs of two hosts each.
void draw_checks(const std::vector<study::LogCheck>& checks, const CommonOptions& common);

}  // namespace ringside::cli
