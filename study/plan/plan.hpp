#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/plan/ranking.hpp"
#include "analysis/plan/thresholds.hpp"
#include "results/codec/record.hpp"
#include "scenario/plan/plan.hpp"
#include "study/inputs/sweep_values.hpp"
#include "study/ranks/observer.hpp"

namespace ringside::study {

struct Invocation;

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
  std::optional<Plan> read = {};  ///< What plan_of() has read of the file, which is then not read again.
};

/// The plan of the file, with the values of some keys, before other offers are read. Throws Error{bad_input}
/// as load_plan() does.
Plan plan_of(const PlanRequest& request, const std::vector<KeyOverride>& more = {});

/// One of the best offers where gradients are synchronised in buckets, and what would make it better.
struct ShownOffer {
  std::size_t candidate = 0;
  Thresholds thresholds = {};
  std::string best_way = {};  ///< The fastest way to synchronise that was tried.
};

/// Some quantity of one offer over another.
struct OfferCurve {
  std::size_t candidate = 0;
  std::vector<std::pair<double, double>> points = {};
  std::optional<std::pair<double, double>> mark = {};  ///< Where this offer is.
};

struct PlanStudy {
  Ranked ranked;
  // Where gradients are synchronised in buckets:
  std::vector<ShownOffer> shown = {};                       ///< Best first; only offers with an estimate.
  std::vector<std::vector<std::string>> explanations = {};  ///< Sentences about an offer each.
  std::optional<std::size_t> drawn = {};   ///< The candidate whose step is drawn as a timeline.
  std::vector<OfferCurve> scaling = {};    ///< Efficiency over the number of GPUs.
  std::vector<OfferCurve> bandwidth = {};  ///< Exposed share of the step over bytes per second.
  std::filesystem::path directory = {};
  std::filesystem::path file = {};  ///< `plan.jsonl`, complete.
};

/// What every offer takes and costs, ranked; no file is written. Throws Error{bad_input}.
PlanStudy planned(const PlanRequest& request, const Observer& observer);

/// The same, and writes `plan.jsonl`.
PlanStudy plan(const PlanRequest& request, const Invocation& invocation, const Observer& observer);

/// The best offer of one combination of swept values; of a plan with `sharding` with its best layout.
struct PlanSweepRow {
  std::vector<std::string> values;
  OfferRecord best;
  std::string why_none = {};  ///< Why not even the best is recommended, whole sentences; empty = it is.
  std::vector<std::string> idle_nics = {};  ///< As of idle_nics().
};
struct PlanSweep {
  std::vector<Sweep> sweeps;
  bool shards = false;
  std::vector<PlanSweepRow> rows = {};
};
/// Throws Error{bad_input}.
PlanSweep sweep_plan(const std::vector<std::string>& sweeps, const PlanRequest& request,
                     const Observer& observer);

/// The offers of files beside the plan.
std::vector<Offer> more_offers(const PlanRequest& request, const Plan& plan, const Observer& observer);

/// How the best offers with several GPUs scale, and what bandwidth would change on them.
void add_curves(PlanStudy& study, Planner& planner);

OfferRecord record_of(const Ranked& ranked, std::size_t candidate);

/// The best first, with what would make it better.
std::vector<OfferRecord> offer_records(const PlanStudy& study);

/// Which algorithms leave an offer's NICs idle: the predicted one, and the ring compared with naive.
std::vector<std::string> idle_nics(const PlannedStep& step, const Thresholds& found);

// Prices in several currencies, which are compared in one: that of the budget, or else that of most offers.

/// By the plan's exchange rates. Offers whose price has none are kept, with that as their problem.
void bring_to_one_currency(const Plan& plan, std::vector<Offer>& offers);

/// Throws Error{bad_input} where one of the plan's exchange rates is about a currency that no price is in.
void require_used_rates(const Plan& plan);

}  // namespace ringside::study
