#pragma once

#include <vector>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "plots/charts.hpp"
#include "results/journal.hpp"
#include "results/point.hpp"
#include "scenario/scenario.hpp"

/// What a finished job says: records into the journal, tables, verdict and charts.
namespace ringside::cli {

struct ReportRequest {
  const Scenario& scenario;
  const Machine& machine;
  const std::vector<Point>& points;
  Journal& journal;
  bool charts = true;
  bool fitted = false;  ///< Show what a curve fitted to the measurements would say.
};

/// Adds verdict, crossover and accuracy records to the journal, draws the charts and prints everything for people, or
/// the journal as it is for --format json.
void report(const ReportRequest& request, const CommonOptions& common, Progress& progress);

/// Draws and names the files on standard output (standard error for --format json); without gnuplot it says what is
/// missing, once, and goes on.
void draw_charts(const std::vector<plots::Figure>& figures, const plots::ChartContext& context,
                 const CommonOptions& common, Progress& progress);

}  // namespace ringside::cli
