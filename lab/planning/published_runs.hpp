#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/plan/planner.hpp"
#include "lab/planning/published_speeds.hpp"
#include "scenario/scenario.hpp"

/// Published trainings of language models, planned from words alone.
namespace ringside {

struct PublishedRun {
  std::string run;  ///< What its source calls it.
  std::string source;
  std::string role;  ///< `fitted`: its speed took part in achieved_share(); `held out`.
  double step_seconds = 0;
  Plan plan;  ///< One way on one offer.
};

struct RunCheck {
  PublishedRun run;
  PlannedStep step;
  /// Where GPUs compute at what runs of other sources reached on their kind; none where there is no other source.
  std::optional<PlannedStep> held_out = {};

  /// Planned over published; none where it cannot be planned.
  std::optional<double> ratio() const;
  bool inside() const;
};

/// configs/scaling/language_models.csv. Throws Error{bad_input} that names the file, line and column.
std::vector<PublishedRun> load_published_runs(const std::filesystem::path& table, const KnownNames& known);

std::vector<RunCheck> check_runs(std::vector<PublishedRun> runs);

/// How far time is off with every source held out in turn.
FactorSummary held_out_summary_of(const std::vector<RunCheck>& checks);

/// Whether the first line of a table is that of published runs.
bool is_table_of_runs(const std::filesystem::path& table);

}  // namespace ringside
