#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/parameters/planning_parameters.hpp"
#include "lab/planning/published_runs.hpp"

/// Fits the planner's parameters to published runs of language models, with every source held out in turn.
namespace ringside {

struct PlanningParameterMeaning {
  PlanningParameter parameter = {};
  std::string_view unit;  ///< `us`, or `1` for a ratio.
  std::string_view meaning;
  /// How far a fit may go from the guess, as a factor each way; 1 = it is not fitted in steps.
  double bound = 1;
};

/// In the order of PlanningParameter.
std::span<const PlanningParameterMeaning> planning_parameter_meanings();

/// The file that holds them. Digits read back as the same numbers.
std::string to_yaml(const PlanningParameters& parameters);

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
