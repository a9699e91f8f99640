#pragma once

#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "plots/html/page.hpp"
#include "study/plan/plan.hpp"

/// What `ringside plan` says: tables, sentences and charts.
namespace ringside::cli {

struct PlanView {
  bool explained = false;  ///< With what would be enough, and every assumption.
  std::size_t top = 12;    ///< How many rows.
};

/// Everything for people, or the records for --format json.
void print_plan(const study::PlanStudy& study, const PlanView& view, const CommonOptions& common);

/// Where the results are and, where it was `written`, how to ask the plan file again; nothing for --format
/// json. `listings`: files of offers beside it.
void print_where(const study::PlanStudy& study, bool written, const std::vector<std::string>& listings,
                 const CommonOptions& common);

/// A row per combination: the best offer and what it does there.
void print_plan_sweep(const study::PlanSweep& sweep, const CommonOptions& common);

/// Those of them that are lines, for report.html.
std::vector<plots::HtmlCurves> plan_curves(const study::PlanStudy& study);

/// Five charts, where gradients are synchronised in buckets.
void draw_plan(const study::PlanStudy& study, const CommonOptions& common, Progress& progress);

}  // namespace ringside::cli
