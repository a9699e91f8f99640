#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "plots/charts/charts.hpp"
#include "study/predict.hpp"

/// What a finished study says: tables, verdict and charts.
namespace ringside::cli {

/// Tables, accuracy and verdict of a study, or its journal (--format json). Without `all`: ends and turns.
/// `next` ends it: what to try next.
void print_points(const study::PointStudy& study, const CommonOptions& common, bool all,
                  const std::vector<std::string>& next);

/// Its charts; `grid` is the predicted speedup over a wider range, where there is one.
void draw_points(const study::PointStudy& study, const std::optional<SpeedupGrid>& grid,
                 const CommonOptions& common, Progress& progress);

/// The machine as a chart names it: `this machine` with its CPU.
std::string chart_label(const Machine& machine);

/// Draws and names the files on standard output (standard error for --format json); without gnuplot it says
/// what is missing, once, and goes on.
void draw_charts(const std::vector<plots::Figure>& figures, const plots::ChartContext& context,
                 const CommonOptions& common, Progress& progress);

}  // namespace ringside::cli
