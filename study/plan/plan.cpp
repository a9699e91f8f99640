#include "study/plan/plan.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/plan/compute_time.hpp"
#include "analysis/plan/plan_sentences.hpp"
#include "common/error.hpp"
#include "common/numbers.hpp"
#include "results/codec/reader.hpp"
#include "results/journal.hpp"
#include "scenario/machine/machine_table.hpp"
#include "scenario/yaml/keys.hpp"
#include "scenario/yaml/override.hpp"
#include "sim/nccl/gpu_models.hpp"
#include "study/inputs/offers.hpp"
#include "study/inputs/scenario_points.hpp"
#include "study/inputs/shipped_files.hpp"
#include "study/plan/currencies.hpp"

namespace ringside::study {
namespace {

PlanPlaces plan_places() {
  const std::filesystem::path configs = configs_directory().value_or("configs");
  return {.models = configs / "workloads" / "tensors", .workloads = configs / "workloads"};
}

/// The request's deadline, budget and exchange rates as if the plan said so.
std::vector<KeyOverride> overrides_of(const PlanRequest& request) {
  std::vector<KeyOverride> overrides;
  if (request.deadline) {
    overrides.push_back(
        {.key = "deadline", .value = *request.deadline, .origin = "--deadline " + *request.deadline});
  }
  if (request.budget) {
    overrides.push_back({.key = "budget", .value = *request.budget, .origin = "--budget " + *request.budget});
  }
  if (!request.exchange.empty()) {
    overrides.push_back(
        {.key = "exchange_rates",
         .value = fmt::format("[\"{}\"]", fmt::join(request.exchange, "\", \"")),
         .origin = fmt::format("--exchange {}", fmt::join(request.exchange, " --exchange "))});
  }
  return overrides;
}

std::string best_way(Planner& planner, const Plan& plan, const Offer& offer) {
  const auto tried = alternatives(planner, plan, offer);
  return tried.empty() || offer.gpus < 2 ? std::string{} : describe(best_of(tried), plan);
}

/// `planner` is one of `plan`. The best `top` offers get thresholds.
PlanEstimate estimate(const Plan& plan, std::vector<Offer> offers, Planner& planner, std::size_t top) {
  PlanEstimate result{.plan = plan, .offers = std::move(offers)};
  bring_to_one_currency(plan, result.offers);
  std::transform(result.offers.begin(), result.offers.end(), std::back_inserter(result.estimates),
                 [&](const Offer& offer) { return planner.estimate(offer); });
  result.ranking = rank_offers(plan, result.offers, result.estimates);
  for (const std::size_t index : result.ranking.order) {
    if (result.shown.size() < top && result.estimates[index].step) {
      result.shown.push_back(index);
      result.thresholds.push_back(thresholds(planner, plan, result.offers[index]));
      result.best_ways.push_back(best_way(planner, plan, result.offers[index]));
    }
  }
  return result;
}

std::vector<Offer> more_offers(const PlanRequest& request, const Plan& plan, const KnownNames& known,
                               const Observer& observer) {
  std::vector<Offer> more;
  for (const std::string& file : request.offers) {
    std::vector<Offer> read = read_offers(file, known, observer);
    std::move(read.begin(), read.end(), std::back_inserter(more));
  }
  if (plan.offers.empty() && more.empty()) {
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: has no offers; write `offers`, or name a file with --offers",
                            request.plan.string()));
  }
  return more;
}

// --- Records --------------------------------------------------------------------------------------------------------

void add(const Thresholds& found, OfferRecord& record) {
  record.bandwidth_factor_for_5_percent = found.factor_for_5_percent;
  record.bandwidth_factor_for_10_percent = found.factor_for_10_percent;
  record.gpus_stop_paying = found.gpus_stop_paying;
  if (found.ring) {
    record.ring = found.ring->value;
  }
  if (found.naive) {
    record.naive = found.naive->value;
  }
  record.ring_from_bytes = found.ring_from_bytes;
  record.ring_from_gpus = found.ring_from_gpus;
}

std::filesystem::path write_records(const PlanEstimate& estimate, const std::filesystem::path& directory,
                                    const Invocation& invocation) {
  const Plan& plan = estimate.plan;
  Journal journal = Journal::create(
      directory / "plan.jsonl",
      plain_header(invocation,
                   {.name = plan.name, .file = plan.file.string(), .text = read_text(plan.file)}));
  for (const std::size_t index : estimate.ranking.order) {
    OfferRecord record = record_of(estimate, index);
    const auto shown = std::find(estimate.shown.begin(), estimate.shown.end(), index);
    if (shown != estimate.shown.end()) {
      const auto place = static_cast<std::size_t>(shown - estimate.shown.begin());
      add(estimate.thresholds[place], record);
      if (!estimate.best_ways[place].empty()) {
        record.best_way = estimate.best_ways[place];
      }
    }
    journal.append(record);
  }
  return journal.file();
}

// --- Explanations ---------------------------------------------------------------------------------------------------

/// Places in `shown` of the offers to explain.
std::vector<std::size_t> places_to_explain(const PlanEstimate& estimate,
                                           const std::vector<std::string>& parts) {
  std::vector<std::size_t> places;
  for (std::size_t place = 0; place < estimate.shown.size(); ++place) {
    const std::size_t index = estimate.shown[place];
    const std::string& name = estimate.offers[index].name;
    const bool asked = std::any_of(parts.begin(), parts.end(), [&](const std::string& part) {
      return name.find(part) != std::string::npos;
    });
    if (parts.empty() ? index == 0 || index == estimate.ranking.recommended : asked) {
      places.push_back(place);
    }
  }
  // The question that the plan puts first is answered first.
  std::stable_sort(places.begin(), places.end(),
                   [&](std::size_t a, std::size_t b) { return estimate.shown[a] < estimate.shown[b]; });
  return places;
}

// --- Sweeps ---------------------------------------------------------------------------------------------------------

int number_of_gpus(const std::string& text) {
  const std::optional<int> gpus = parse_number<int>(text);
  if (!gpus || *gpus < 1) {
    throw Error(ErrorKind::bad_input,
                fmt::format("--sweep gpus={}: '{}' is not a number of GPUs", text, text));
  }
  return *gpus;
}

/// An offer of a whole machine stays one when the machine grows or shrinks, at the same price of a GPU.
void rent_whole(Offer& offer, std::optional<std::int64_t> before) {
  const auto now = num_gpus(offer.machine);
  if (!before || !now || *now == *before || offer.gpus != *before) {
    return;
  }
  offer.gpus = static_cast<int>(*now);
  if (offer.per_hour) {
    offer.per_hour->amount *= static_cast<double>(*now) / static_cast<double>(*before);
  }
}

/// The offer with the values of those keys that are keys of machines.
Offer offer_with(Offer offer, const std::vector<Sweep>& sweeps, const std::vector<std::string>& values) {
  const auto before = num_gpus(offer.machine);
  for (std::size_t index = 0; index < sweeps.size(); ++index) {
    const std::string& key = sweeps[index].key;
    if (!is_plan_key(key) && key != "gpus") {
      offer.machine =
          with_value(offer.machine,
                     {.key = key, .value = values[index], .origin = origin_of(sweeps[index], values[index])});
    }
  }
  rent_whole(offer, before);
  for (std::size_t index = 0; index < sweeps.size(); ++index) {
    if (sweeps[index].key != "gpus") {
      continue;
    }
    offer.gpus = number_of_gpus(values[index]);
    if (offer.machine.gpus_per_node && offer.gpus > *offer.machine.gpus_per_node * offer.machine.nodes) {
      throw Error(ErrorKind::bad_input, fmt::format("{} has no {} GPUs", offer.name, offer.gpus));
    }
  }
  return offer;
}

/// Every offer with the values of a combination; one that cannot have them gets a problem. Throws when none can.
std::vector<Offer> offers_with(const std::vector<Offer>& offers, const std::vector<Sweep>& sweeps,
                               const std::vector<std::string>& values) {
  std::vector<Offer> changed;
  std::size_t refused = 0;
  for (const Offer& offer : offers) {
    try {
      changed.push_back(offer.problem.empty() ? offer_with(offer, sweeps, values) : offer);
    } catch (const Error& error) {
      if (++refused == offers.size()) {
        throw;
      }
      changed.push_back(offer);
      changed.back().problem = error.what();
    }
  }
  return changed;
}

std::vector<std::string> sweepable_keys() {
  std::vector<std::string> paths = {"gpus"};
  for (const auto& keys : {plan_keys(), workload_keys(), machine_keys()}) {
    std::transform(keys.begin(), keys.end(), std::back_inserter(paths),
                   [](const KeyDescription& key) { return key.path; });
  }
  return paths;
}

/// The best of one combination of values.
PlanSweepRow best_row(const std::vector<std::string>& values, const Plan& plan, std::vector<Offer> offers) {
  if (plan.shards()) {
    bring_to_one_currency(plan, offers);
    const std::vector<ShardedOffer> ways = ways_of(plan, offers);
    const ShardedOffer& best = ways.front();
    return {.values = values,
            .best = record_of(plan, offers[best.offer], best, best.recommended()),
            .why_none = why_none_of(plan, offers, ways)};
  }
  Planner planner(plan);
  const PlanEstimate all = estimate(plan, std::move(offers), planner, 0);
  return {.values = values,
          .best = record_of(all, all.best()),
          .why_none = all.ranking.recommended ? std::string{} : all.ranking.reason,
          .idle_nics = idle_nics(all.estimates[all.best()], {})};
}

/// A speed that no GPU can have is a slip.
void require_possible_speeds(const Plan& plan) {
  // No training does without the forward pass and one backward to the activations.
  constexpr double kLeastPasses = 2;
  const Workload& workload = plan.workload;
  for (const MeasuredSpeed& speed : workload.compute.measured) {
    const auto sheet = find_gpu_sheet(speed.gpu);
    const double rate = sheet ? flop_rate(*sheet, workload.compute.precision) : 0;
    const double least = kLeastPasses * workload.forward_flops * speed.samples_per_second;
    if (rate > 0 && least > rate) {
      throw Error(
          ErrorKind::bad_input,
          fmt::format(
              "{}: compute.measured: {:g} samples/s of {} are at least {:.4g} TFLOP/s, and "
              "one {} has {:.4g} in {}; is it the speed of several GPUs, or the `precision` another one?",
              plan.file.string(), speed.samples_per_second, workload.name, least / 1e12, sheet->model,
              rate / 1e12, name(workload.compute.precision)));
    }
  }
}

}  // namespace

std::size_t PlanEstimate::best() const { return ranking.recommended.value_or(ranking.order.front()); }

double run_seconds(const OfferEstimate& estimate) {
  return estimate.run ? estimate.run->typical.value : 1e6 / estimate.step->samples_per_second.typical;
}

Plan loaded_plan(const PlanRequest& request, const Observer& observer) {
  const KnownNames known = known_names();
  Plan plan =
      request.read ? *request.read : load_plan(request.plan, known, plan_places(), overrides_of(request));
  for (std::size_t index = 0; index < std::min(plan.offers.size(), request.assumptions.size()); ++index) {
    plan.offers[index].assumptions = request.assumptions[index];
  }
  std::vector<Offer> more = more_offers(request, plan, known, observer);
  std::move(more.begin(), more.end(), std::back_inserter(plan.offers));
  if (!request.exchange.empty()) {
    require_used_rates(plan);
  }
  bring_to_one_currency(plan, plan.offers);
  require_possible_speeds(plan);
  return plan;
}

PlanQuestion question_of(const PlanRequest& request) {
  Plan plan = load_plan(request.plan, known_names(), plan_places(), overrides_of(request));
  return {.name = plan.name,
          .computes = computes(plan.workload),
          .shards = plan.shards(),
          .plan = std::move(plan)};
}

PlanStudy plan(const PlanRequest& request, const Invocation& invocation, const Observer& observer) {
  const Plan loaded = loaded_plan(request, observer);
  Planner planner(loaded);
  PlanStudy study{.estimate =
                      estimate(loaded, loaded.offers, planner, static_cast<std::size_t>(request.top))};
  study.directory = output_directory(invocation, loaded.name);
  study.file = write_records(study.estimate, study.directory, invocation);
  for (const std::string& part : request.explained) {
    if (places_to_explain(study.estimate, {part}).empty()) {
      throw Error(
          ErrorKind::bad_input,
          fmt::format("--explain '{}': no offer that is shown has that in its name ({} of {} offers are; "
                      "--top shows more)",
                      part, study.estimate.shown.size(), study.estimate.offers.size()));
    }
  }
  for (const std::size_t place : places_to_explain(study.estimate, request.explained)) {
    const std::size_t index = study.estimate.shown[place];
    study.explanations.push_back(
        {.offer = index,
         .sentences = explain(planner, loaded, study.estimate.offers[index], study.estimate.estimates[index],
                              study.estimate.thresholds[place])});
  }
  if (!study.estimate.shown.empty()) {
    const std::vector<std::size_t> places = places_to_explain(study.estimate, {});
    study.drawn = study.estimate.shown[places.empty() ? 0 : places.front()];
  }
  study.ties = ties(planner, loaded, study.estimate.offers, study.estimate.estimates, study.estimate.ranking);
  if (request.curves) {
    add_curves(study, planner);
  }
  return study;
}

PlanSweep sweep_plan(const std::vector<std::string>& sweeps, const PlanRequest& request,
                     const Observer& observer) {
  const KnownNames known = known_names();
  const std::vector<Offer> more = more_offers(
      request, load_plan(request.plan, known, plan_places(), overrides_of(request)), known, observer);
  PlanSweep result;
  std::transform(sweeps.begin(), sweeps.end(), std::back_inserter(result.sweeps), parse_sweep);
  require_known_keys(result.sweeps, sweepable_keys(),
                     "a plan, a workload (docs/planning.md) or a machine (docs/scenario.md)");
  for (const std::vector<std::string>& values : combinations(result.sweeps)) {
    std::vector<KeyOverride> overrides = overrides_of(request);
    for (std::size_t index = 0; index < values.size(); ++index) {
      const Sweep& sweep = result.sweeps[index];
      if (is_plan_key(sweep.key)) {
        overrides.push_back(
            {.key = sweep.key, .value = values[index], .origin = origin_of(sweep, values[index])});
      }
    }
    const Plan loaded = load_plan(request.plan, known, plan_places(), overrides);
    std::vector<Offer> offers = loaded.offers;
    offers.insert(offers.end(), more.begin(), more.end());
    if (!loaded.shards() && !computes(loaded.workload)) {
      throw Error(
          ErrorKind::bad_input,
          fmt::format(
              "--sweep names the best offer of each combination, and {} has no `compute` to tell it by",
              loaded.file.string()));
    }
    result.shards = loaded.shards();
    result.rows.push_back(best_row(values, loaded, offers_with(offers, result.sweeps, values)));
  }
  return result;
}

std::vector<RunCheck> check_published_runs(const std::filesystem::path& table) {
  return check_runs(load_published_runs(table, known_names()));
}

std::vector<ScalingCheck> check_published_scaling(const std::filesystem::path& table) {
  return check_scaling(load_published_scaling(table),
                       {.table = table,
                        .models = plan_places().models,
                        .speeds = configs_directory().value_or("configs") / "scaling" / "speeds.csv",
                        .known = known_names()});
}

std::vector<SpeedCheck> check_published_speeds(const std::filesystem::path& table) {
  return check_speeds(load_published_speeds(table, plan_places().models));
}

}  // namespace ringside::study
