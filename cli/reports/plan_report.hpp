#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "study/plan/plan.hpp"

/// What `ringside plan` says: tables, sentences and charts.
namespace ringside::cli {

struct PlanView {
  bool one_line = false;   ///< Asked without a file, and answered on one screen.
  bool explained = false;  ///< With the explanations, which a file always gets.
  int top = 20;
};

/// Everything for people, or the records for --format json.
void print_plan(const study::PlanStudy& study, const PlanView& view, const CommonOptions& common);

/// The plan file that was written, and how to ask it; nothing for --format json. `offers`: files of listings beside it.
void print_written_plan(const std::filesystem::path& file, const std::vector<std::string>& offers,
                        const std::string& yaml, const CommonOptions& common);

/// A row per combination: the best offer and what it does there.
void print_plan_sweep(const study::PlanSweep& sweep, const CommonOptions& common);

/// Five charts, where gradients are synchronised in buckets.
void draw_plan(const study::PlanStudy& study, const CommonOptions& common, Progress& progress);

}  // namespace ringside::cli
