#include "lab/planning/planning_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <utility>

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

constexpr auto kMeanings = std::to_array<PlanningParameterMeaning>(
    {{share_ampere, "1",
      "rate of matrix products on Ampere, as a share of the data sheet's dense rate in 16 bits", 1.4},
     {share_hopper, "1", "that share on Hopper, relative to Ampere", 1.1},
     {share_blackwell, "1", "likewise on Blackwell", 1.1},
     {share_float8, "1", "that share in 8 bits, relative to the share in 16 bits", 1.4},
     {attention_ampere, "1",
      "time of an operation of attention, relative to one of matrix products in 16 bits", 1.4},
     {attention_hopper, "1", "likewise on Hopper", 1.4},
     {traversals, "1",
      "times that kept activations cross GPU memory in a forward pass; twice as often in a backward pass",
      1.5},
     {layer_time, "us",
      "launching a layer's kernels in one direction, with adapters; half of it without, and in 8 bits", 3},
     {gathered_time, "1",
      "that time where a layer's weights are gathered first, relative to a layer of whole ones", 1.6},
     {dequantised, "1", "bytes of GPU memory that move to turn a four-bit weight back, per pass", 3},
     {experts, "1", "time of an operation of a mixture of experts, relative to one of a dense model", 1.6},
     {exposed_ddp, "1", "exposed share of what could be hidden of all_reduces", 3},
     {exposed_sharded, "1", "likewise of gathers and reductions of sharded tensors", 3},
     {exposed_tensor, "1", "exposed share of tensor- and pipeline-parallel messages", 1.33},
     {spread, "1", "standard deviation of the computing times of GPUs over their mean", 3},
     {dense_factor, "1", "90 % of runs are off by less than this factor, beside what collectives explain", 1},
     {float8_factor, "1", "likewise in 8 bits", 1},
     {adapters_factor, "1", "likewise with adapters", 1},
     {sparse_factor, "1", "likewise of mixtures of experts", 1}});
static_assert(kMeanings.size() == kNumPlanningParameters);

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
  void follow(PlanningParameters before, const std::string& held_out, double& least,
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
  const PlanningParameters guesses = planning_guesses();
  double loss = 0;
  for (std::size_t i = 0; i < kNumPlanningParameters; ++i) {
    if (kMeanings[i].bound > 1) {
      const double deviations =
          2 * std::log(parameters.values[i] / guesses.values[i]) / std::log(kMeanings[i].bound);
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
  const PlanningParameterMeaning& meaning = kMeanings[index];
  const double guess = planning_guesses().values[index];
  if (!(meaning.bound > 1)) {
    return false;
  }
  for (const double factor : {1 + step, 1 / (1 + step)}) {
    PlanningParameters candidate = best;
    candidate.values[index] =
        std::clamp(factor * best.values[index], guess / meaning.bound, guess * meaning.bound);
    const double found = loss(candidate, held_out);
    if (found < least) {
      least = found;
      best = candidate;
      return true;
    }
  }
  return false;
}

/// Goes on as the last sweep went while that helps (Hooke and Jeeves 1961, doi 10.1145/321062.321069): shares
/// of the rate and memory traffic explain the same times, so that steps of one alone end on a ridge.
void RunFit::follow(PlanningParameters before, const std::string& held_out, double& least,
                    PlanningParameters& best) {
  const PlanningParameters guesses = planning_guesses();
  while (true) {
    PlanningParameters candidate = best;
    for (std::size_t i = 0; i < kNumPlanningParameters; ++i) {
      const double bound = kMeanings[i].bound;
      if (bound > 1) {
        candidate.values[i] = std::clamp(best.values[i] * best.values[i] / before.values[i],
                                         guesses.values[i] / bound, guesses.values[i] * bound);
      }
    }
    const double found = loss(candidate, held_out);
    if (!(found < least)) {
      return;
    }
    least = found;
    before = std::exchange(best, candidate);
  }
}

PlanningParameters RunFit::fit_without(const std::string& source) {
  PlanningParameters best = planning_guesses();
  double least = loss(best, source);
  constexpr int kMostSweeps = 12;
  for (const double step : {0.2, 0.08, 0.03, 0.01, 0.003}) {
    bool better = true;
    for (int sweep = 0; sweep < kMostSweeps && better; ++sweep) {
      const PlanningParameters before = best;
      better = false;
      for (std::size_t i = 0; i < kNumPlanningParameters; ++i) {
        better = improve(i, step, source, least, best) || better;
      }
      follow(before, source, least, best);
    }
  }
  return best;
}

/// Logarithms of how far runs are off, by the factor that they bear on, and by source.
using Surprises = std::map<PlanningParameter, std::map<std::string, std::vector<double>>>;

/// Beyond its communication's ends: what speed.time must be, on GPUs that trainings ran on, to put a run just
/// inside. On others the interval is wider already.
void add_surprise(const RunFit::Row& row, const PlannedStep& step, const PlanningParameters& parameters,
                  Surprises& surprises) {
  const PlanningParameter factor =
      factor_of(row.run->plan.workload, row.run->layout().adapters != Adapters::none);
  const double typical = step.total.typical.value;
  const double error = std::log(*row.run->step_seconds / typical);
  const double all = std::log((error < 0 ? step.total.low : step.total.high).value / typical);
  const double wider = step.extrapolated ? std::log(kExtrapolatedWider) : 0;
  const double time = std::log(parameters[factor]) + wider;
  const double communication = std::max(0.0, all * all - time * time);
  surprises[factor][row.source].push_back(std::sqrt(std::max(0.0, error * error - communication)) - wider);
}

/// The value that one more of their kind does not exceed with this probability, as far as so few can say: the
/// quantile of conformal prediction (Lei et al. 2018, arXiv 1604.04173, section 2).
double at_share_of_next(const std::vector<double>& values, double share) {
  const auto count = static_cast<double>(values.size());
  return at_share(values, std::min(1.0, share * (count + 1) / count));
}

/// What holds 90 % of the runs of two sources in three: of the next run, and of the next source. Runs of one
/// source err alike: pooled, a source with many runs, or one that is far off, would set the interval alone.
/// Few sources bear on 8 bits, adapters and experts, which are one thing more to be wrong about: no narrower
/// than dense models. One source cannot say how far the next one is off: the guess stays.
void set_quantiles(Surprises surprises, const std::string& held_out, PlanningParameters& parameters) {
  // A source without dense runs in 16 bits says by those in 8 how far frameworks differ.
  surprises[dense_factor].insert(surprises[float8_factor].begin(), surprises[float8_factor].end());
  for (const auto& [factor, by_source] : surprises) {
    std::vector<double> ends;
    for (const auto& [source, some] : by_source) {
      if (source != held_out) {
        ends.push_back(at_share_of_next(some, 0.9));
      }
    }
    if (ends.size() > 1) {
      constexpr double kMost = 2.0 / 3;
      const double least = factor == dense_factor ? 0.05 : std::log(parameters[dense_factor]);
      parameters[factor] = std::exp(std::max(least, at_share_of_next(ends, kMost)));
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

std::span<const PlanningParameterMeaning> planning_parameter_meanings() { return kMeanings; }

std::string to_yaml(const PlanningParameters& parameters) {
  std::string text =
      "# What published trainings say of plans of language models. Written by\n"
      "#     ringside-lab fit configs/scaling\n"
      "# and compiled into the program. `us` are microseconds, `1` is a ratio;\n"
      "# lab/docs/accuracy_language_models.md says how well they do on sources that had no part in them.\n";
  for (std::size_t i = 0; i < kNumPlanningParameters; ++i) {
    text += fmt::format("{}: {:<22} # {}: {}\n", name(kMeanings[i].parameter),
                        fmt::format("{}", parameters.values[i]), kMeanings[i].unit, kMeanings[i].meaning);
  }
  return text;
}

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
