#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/plan/plan_answers.hpp"
#include "analysis/plan/plan_ties.hpp"
#include "analysis/plan/planner.hpp"
#include "analysis/plan/scaling_check.hpp"
#include "analysis/plan/synchronisation_times.hpp"
#include "analysis/sharding/published_runs.hpp"
#include "analysis/sharding/sharded_step.hpp"
#include "results/codec/record.hpp"
#include "scenario/plan/plan.hpp"
#include "study/inputs/invocation.hpp"
#include "study/inputs/sweep_values.hpp"
#include "study/ranks/observer.hpp"

namespace ringside::study {

struct PlanRequest {
  std::filesystem::path plan;
  std::vector<std::string> offers = {};  ///< Files of more offers.
  std::optional<std::string> deadline = {};
  std::optional<std::string> budget = {};
  std::vector<std::string> exchange = {};   ///< Exchange rates, instead of the plan's.
  std::vector<std::string> explained = {};  ///< Parts of names; empty = the best and the first offer.
  int top = 20;                             ///< How many offers get thresholds.
  bool curves = true;                       ///< Also what the charts of scaling and bandwidth show.
  /// What was taken for granted of the plan's own offers, in their order; may be fewer.
  std::vector<std::vector<std::string>> assumptions = {};
  std::optional<Plan> read = {};  ///< What question_of() has read of the file, which is then not read again.
};

/// Every offer of a plan with what it would take and cost.
struct PlanEstimate {
  Plan plan;
  std::vector<Offer> offers = {};
  std::vector<OfferEstimate> estimates = {};  ///< In the order of the offers.
  Ranking ranking = {};
  std::vector<std::size_t> shown = {};      ///< Best first; only offers with an estimate.
  std::vector<Thresholds> thresholds = {};  ///< In the order of `shown`.
  std::vector<std::string> best_ways = {};  ///< Likewise: the fastest way to synchronise that was tried.

  /// The recommended offer, else the first in rank.
  std::size_t best() const;
};

/// Seconds of the run, or of a million samples where its length is not known. The offer has a step.
double run_seconds(const OfferEstimate& estimate);

/// Some quantity of one offer over another.
struct OfferCurve {
  std::size_t offer = 0;
  std::vector<std::pair<double, double>> points = {};
  std::optional<std::pair<double, double>> mark = {};  ///< Where this offer is.
};

struct Explanation {
  std::size_t offer = 0;
  std::vector<std::string> sentences = {};
};

struct PlanStudy {
  PlanEstimate estimate;
  std::vector<Explanation> explanations = {};
  Ties ties = {};                          ///< What may be better than the recommended offer.
  std::optional<std::size_t> drawn = {};   ///< The offer whose step is drawn as a timeline.
  std::vector<OfferCurve> scaling = {};    ///< Efficiency over the number of GPUs.
  std::vector<OfferCurve> bandwidth = {};  ///< Exposed share of the step over bytes per second.
  std::filesystem::path directory = {};
  std::filesystem::path file = {};  ///< `plan.jsonl`, complete.
};

/// Estimates every offer, ranks them, and writes `plan.jsonl`. Throws Error{bad_input}.
PlanStudy plan(const PlanRequest& request, const Invocation& invocation, const Observer& observer);

/// What synchronising its gradients takes on every offer of a plan whose workload says nothing of computing.
struct SynchronisationStudy {
  Plan plan;
  std::vector<Offer> offers = {};
  std::vector<SynchronisationTimes> times = {};  ///< In the order of the offers.
  std::vector<std::size_t> order = {};           ///< Fastest first; those that cannot be used last.
  std::filesystem::path directory = {};
  std::filesystem::path file = {};  ///< `plan.jsonl`, complete.
};

/// What a plan asks for, before its offers are read.
struct PlanQuestion {
  std::string name;
  bool computes = false;  ///< Its workload says how fast GPUs compute.
  bool shards = false;    ///< It asks for ways to spread a language model.
  Plan plan;              ///< For PlanRequest::read.
};

/// Throws Error{bad_input} as load_plan() does.
PlanQuestion question_of(const PlanRequest& request);

/// Writes `plan.jsonl`. Throws Error{bad_input}.
SynchronisationStudy synchronise(const PlanRequest& request, const Invocation& invocation,
                                 const Observer& observer);

/// The best offer of one combination of swept values; of a plan with `sharding` with its best way.
struct PlanSweepRow {
  std::vector<std::string> values;
  OfferRecord best;
  std::string why_none = {};  ///< Why not even the best is recommended, whole sentences; empty = it is.
  std::vector<std::string> idle_nics = {};  ///< As of idle_nics().
};
struct PlanSweep {
  std::vector<Sweep> sweeps;
  bool shards = false;
  std::vector<PlanSweepRow> rows;
};
/// Throws Error{bad_input}.
PlanSweep sweep_plan(const std::vector<std::string>& sweeps, const PlanRequest& request,
                     const Observer& observer);

/// One way to spread a language model over one offer.
struct ShardedOffer {
  std::size_t offer = 0;
  ShardedStep step = {};
  bool meets = true;  ///< The plan's deadline and budget.

  /// It can be rented for what somebody measured, in time and for its price.
  bool recommended() const { return step.problem.empty() && meets && !step.extrapolated; }
};

struct ShardingStudy {
  Plan plan;
  std::vector<Offer> offers = {};
  /// Every way on every offer, or of a search the best and the runner-up of each; the best first, what cannot be last.
  std::vector<ShardedOffer> ways = {};
  std::string why_none = {};  ///< Why nothing can be rented, a whole sentence; empty = something can.
  /// Other offers that can be rented, and whose 90 % interval of what the plan compares overlaps that of the first way; best first.
  std::vector<std::size_t> tied = {};
  /// The first of `ways` that would be better than the recommended one if its extrapolated speed were right.
  std::optional<std::size_t> unmeasured = {};
  std::filesystem::path directory = {};
  std::filesystem::path file = {};  ///< `plan.jsonl`, complete.
};

/// Writes `plan.jsonl`. Throws Error{bad_input}.
ShardingStudy shard(const PlanRequest& request, const Invocation& invocation, const Observer& observer);

/// As in ShardingStudy.
std::vector<ShardedOffer> ways_of(const Plan& plan, const std::vector<Offer>& offers);

/// Why none of these ways of ways_of() is recommended, whole sentences; empty = the first is.
std::string why_none_of(const Plan& plan, const std::vector<Offer>& offers,
                        const std::vector<ShardedOffer>& ways);
OfferRecord record_of(const Plan& plan, const Offer& offer, const ShardedOffer& way, bool best);

/// The plan with its own offers and those of the request. Throws Error{bad_input} where there is none.
Plan loaded_plan(const PlanRequest& request, const Observer& observer);

/// How the best offers with several GPUs scale, and what bandwidth would change on them.
void add_curves(PlanStudy& study, Planner& planner);

OfferRecord record_of(const PlanEstimate& estimate, std::size_t index);

/// Which algorithms leave NICs of an offer idle: the one that was predicted, and the ring that is compared with naive.
std::vector<std::string> idle_nics(const OfferEstimate& estimate, const Thresholds& found);

/// Planned beside published trainings of language models, a row each.
std::vector<RunCheck> check_published_runs(const std::filesystem::path& table);

/// Speeds of one GPU beside published, a row each, with the row's source held out.
std::vector<SpeedCheck> check_published_speeds(const std::filesystem::path& table);

/// Predicted scaling beside published, a row each.
std::vector<ScalingCheck> check_published_scaling(const std::filesystem::path& table);

}  // namespace ringside::study
