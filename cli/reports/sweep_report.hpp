#pragma once

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "study/sweep.hpp"

namespace ringside::cli {

/// The winner of each combination, or every prediction for --format json.
void print_sweep(const study::SweepStudy& sweep, const CommonOptions& common);

/// The winners of two keys as a map.
void draw_sweep(const study::SweepStudy& sweep, const CommonOptions& common, Progress& progress);

}  // namespace ringside::cli
