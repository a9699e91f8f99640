#pragma once

#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "study/sweep.hpp"

namespace ringside::cli {

/// A column of numbers for each key that is swept.
std::vector<std::string> sweep_columns(const std::vector<study::Sweep>& sweeps);

/// The winner of each combination, or every prediction for --format json.
void print_sweep(const study::SweepStudy& sweep, const CommonOptions& common);

/// The winners of two keys as a map.
void draw_sweep(const study::SweepStudy& sweep, const CommonOptions& common, Progress& progress);

}  // namespace ringside::cli
