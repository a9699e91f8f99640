#pragma once

#include <string>
#include <vector>

#include "analysis/parameters/planning_parameters.hpp"
#include "lab/planning/published_runs.hpp"

/// Fits the planner's parameters to published runs of language models, with every source held out in turn.
namespace ringside {

struct PlanningStudy {
  /// Fitted without one source; its quantiles are of all others, each of which was held out, too.
  struct Fold {
    std::string source;  ///< `owner/repository`, as of repository_of().
    PlanningParameters parameters;
  };
  PlanningParameters all;
  std::vector<Fold> folds;
  std::size_t rows = 0;  ///< With a time, and planned to fit.
};

/// Least weighted logarithm of planned over published time, of which large ones count little more than
/// middling ones; every source counts as the root of its rows, and what leads away from planning_guesses()
/// costs as much as a normal distribution says whose two standard deviations are the bound. No
/// parameter leaves its bound.
PlanningStudy study_planning(const std::vector<PublishedRun>& runs);

std::string held_out_file(const PlanningStudy& study);

/// The folds that the program was built with: configs/planning/held_out.yaml.
const std::vector<PlanningStudy::Fold>& planning_folds();

/// Fitted without this source; of one that had no part, those of the program.
const PlanningParameters& parameters_without(const std::string& source);

}  // namespace ringside
