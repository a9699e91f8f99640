#include "lab/planning/planning_fit.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/plan/achieved_share.hpp"
#include "common/error.hpp"
#include "lab/planning/planning_held_out_text.hpp"
#include "lab/planning/published_speeds.hpp"
#include "scenario/yaml/yaml_tree.hpp"

namespace ringside {
namespace {

using enum PlanningParameter;

/// Plans all runs again and again with other parameters; what collectives take is predicted once.
class RunFit {
 public:
  explicit RunFit(const std::vector<PublishedRun>& runs);

  struct Row {
    const PublishedRun* run;
    std::string source;
    double weight;  ///< One over the root of the rows of its source.
    std::unique_ptr<Planner> planner;
  };
  const std::vector<Row>& rows() const { return rows_; }

  PlanningParameters fit_without(const std::string& source);
  PlannedStep step(const Row& row, const PlanningParameters& parameters) {
    parameters_ = parameters;
    return planned(row);
  }

 private:
  PlannedStep planned(const Row& row) const {
    return row.planner->estimate(row.run->offer(), row.run->layout());
  }
  double loss(const PlanningParameters& parameters, const std::string& held_out);
  bool improve(std::size_t index, double step, const std::string& held_out, double& least,
               PlanningParameters& best);

  PlanningParameters parameters_ = planning_guesses();
  std::vector<Row> rows_;
};

RunFit::RunFit(const std::vector<PublishedRun>& runs) {
  std::map<std::string, double> counts;
  for (const PublishedRun& run : runs) {
    Row row{.run = &run,
            .source = repository_of(run.source),
            .weight = 1,
            .planner = std::make_unique<Planner>(run.plan, parameters_)};
    if (run.step_seconds && planned(row).usable()) {
      ++counts[row.source];
      rows_.push_back(std::move(row));
    }
  }
  for (Row& row : rows_) {
    row.weight = 1 / std::sqrt(counts[row.source]);
  }
}

double RunFit::loss(const PlanningParameters& parameters, const std::string& held_out) {
  parameters_ = parameters;
  const auto meanings = planning_parameter_meanings();
  double loss = 0;
  for (std::size_t i = 0; i < kNumPlanningParameters; ++i) {
    if (meanings[i].bound > 1) {
      const double deviations =
          2 * std::log(parameters.values[i] / meanings[i].guess) / std::log(meanings[i].bound);
      loss += deviations * deviations / 2;
    }
  }
  // Rows of one source err alike, by about this.
  constexpr double kTypicalError = 0.1;
  for (const Row& row : rows_) {
    if (row.source != held_out) {
      const double error = std::log(planned(row).total.typical.value / *row.run->step_seconds);
      loss += row.weight * std::abs(error) / kTypicalError;
    }
  }
  return loss;
}

bool RunFit::improve(std::size_t index, double step, const std::string& held_out, double& least,
                     PlanningParameters& best) {
  const PlanningParameterMeaning& meaning = planning_parameter_meanings()[index];
  if (!(meaning.bound > 1)) {
    return false;
  }
  for (const double factor : {1 + step, 1 / (1 + step)}) {
    PlanningParameters candidate = best;
    candidate.values[index] =
        std::clamp(factor * best.values[index], meaning.guess / meaning.bound, meaning.guess * meaning.bound);
    const double found = loss(candidate, held_out);
    if (found < least) {
      least = found;
      best = candidate;
      return true;
    }
  }
  return false;
}

PlanningParameters RunFit::fit_without(const std::string& source) {
  PlanningParameters best = planning_guesses();
  double least = loss(best, source);
  constexpr int kMostSweeps = 12;
  for (const double step : {0.2, 0.08, 0.03, 0.01, 0.003}) {
    bool better = true;
    for (int sweep = 0; sweep < kMostSweeps && better; ++sweep) {
      better = false;
      for (std::size_t i = 0; i < kNumPlanningParameters; ++i) {
        better = improve(i, step, source, least, best) || better;
      }
    }
  }
  return best;
}

/// Logarithms of how far runs are off, by the low quantile that they bear on, and by source.
using Surprises = std::map<PlanningParameter, std::map<std::string, std::vector<double>>>;

PlanningParameter high_of(PlanningParameter low) {
  return static_cast<PlanningParameter>(static_cast<std::size_t>(low) + 1);
}

/// Beyond its communication's ends: the part of speed.time that puts a run just inside.
void add_surprise(const RunFit::Row& row, const PlannedStep& step, const PlanningParameters& parameters,
                  Surprises& surprises) {
  const PlanningParameter low = row.run->model().experts > 1                   ? sparse_low
                                : row.run->layout().adapters != Adapters::none ? adapters_low
                                                                               : dense_low;
  const double typical = step.total.typical.value;
  const double error = std::log(*row.run->step_seconds / typical);
  const double all = std::log((error < 0 ? step.total.low : step.total.high).value / typical);
  const double time = std::abs(std::log(parameters[error < 0 ? low : high_of(low)])) +
                      (step.extrapolated ? std::log(kExtrapolatedWider) : 0);
  const double communication = std::max(0.0, all * all - time * time);
  surprises[low][row.source].push_back(std::sqrt(std::max(0.0, error * error - communication)));
}

/// What holds 90 % of the runs of two sources in three. Runs of one source err alike: pooled, a source with
/// many runs, or one that is far off, would set the interval alone. Few sources bear on adapters and experts,
/// which are one thing more to be wrong about: no narrower than dense models.
void set_quantiles(const Surprises& surprises, const std::string& held_out, PlanningParameters& parameters) {
  double end = 0.05;
  for (const auto& [low, by_source] : surprises) {
    std::vector<double> ends;
    for (const auto& [source, some] : by_source) {
      if (source != held_out) {
        ends.push_back(at_share(some, 0.9));
      }
    }
    if (!ends.empty()) {
      constexpr double kMost = 2.0 / 3;
      end = std::max(end, at_share(std::move(ends), kMost));
      parameters[low] = std::exp(-end);
      parameters[high_of(low)] = std::exp(end);
    }
  }
}

std::vector<PlanningStudy::Fold> parse_folds() {
  std::vector<PlanningStudy::Fold> folds;
  const YamlTree tree = parse_yaml_tree(std::string(kPlanningHeldOutYaml), "configs/planning/held_out.yaml");
  for (const YamlTree& one : tree.at("folds").list) {
    const std::vector<double> values = one.at("parameters").numbers();
    if (values.size() != kNumPlanningParameters) {
      throw Error(ErrorKind::bad_input,
                  fmt::format("configs/planning/held_out.yaml: {} has {} parameters, not {}",
                              one.at("source").text, values.size(), kNumPlanningParameters));
    }
    folds.push_back({.source = one.at("source").text, .parameters = {}});
    std::copy(values.begin(), values.end(), folds.back().parameters.values.begin());
  }
  return folds;
}

}  // namespace

PlanningStudy study_planning(const std::vector<PublishedRun>& runs) {
  RunFit fit(runs);
  std::set<std::string> sources;
  for (const RunFit::Row& row : fit.rows()) {
    sources.insert(row.source);
  }
  PlanningStudy study{.all = fit.fit_without({}), .folds = {}, .rows = fit.rows().size()};
  Surprises surprises;
  for (const std::string& source : sources) {
    study.folds.push_back({.source = source, .parameters = fit.fit_without(source)});
    for (const RunFit::Row& row : fit.rows()) {
      if (row.source == source) {
        const PlanningParameters& parameters = study.folds.back().parameters;
        add_surprise(row, fit.step(row, parameters), parameters, surprises);
      }
    }
  }
  set_quantiles(surprises, {}, study.all);
  for (PlanningStudy::Fold& fold : study.folds) {
    set_quantiles(surprises, fold.source, fold.parameters);
  }
  return study;
}

std::string held_out_file(const PlanningStudy& study) {
  std::string text =
      "# The numbers of parameters.yaml as they come out without one source at a time: what the published "
      "accuracy is\n"
      "# measured with. Written with it, in its order.\n"
      "folds:\n";
  for (const PlanningStudy::Fold& fold : study.folds) {
    std::vector<std::string> numbers;
    for (const double value : fold.parameters.values) {
      numbers.push_back(fmt::format("{:.7g}", value));
    }
    text += fmt::format("  - source: \"{}\"\n    parameters: [{}]\n", fold.source, fmt::join(numbers, ", "));
  }
  return text;
}

const std::vector<PlanningStudy::Fold>& planning_folds() {
  static const std::vector<PlanningStudy::Fold> folds = parse_folds();
  return folds;
}

const PlanningParameters& parameters_without(const std::string& source) {
  for (const PlanningStudy::Fold& fold : planning_folds()) {
    if (fold.source == source) {
      return fold.parameters;
    }
  }
  return planning_parameters();
}

}  // namespace ringside
