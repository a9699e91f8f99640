#pragma once

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "study/plan/plan.hpp"

/// What `ringside plan` says: tables, sentences and charts.
namespace ringside::cli {

/// Everything for people, or the records for --format json.
void print_plan(const study::PlanStudy& study, const CommonOptions& common);

void draw_plan(const study::PlanStudy& study, const CommonOptions& common, Progress& progress);

/// A row per combination: the best offer and what it does there.
void print_plan_sweep(const study::PlanSweep& sweep, const CommonOptions& common);

}  // namespace ringside::cli
