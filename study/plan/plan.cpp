#include "study/plan/plan.hpp"

#include <algorithm>
#include <iterator>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/plan/compute_time.hpp"
#include "analysis/plan/plan_sentences.hpp"
#include "analysis/sharding/ways_out.hpp"
#include "common/failures.hpp"
#include "common/text.hpp"
#include "import/offer_listing.hpp"
#include "results/codec/reader.hpp"
#include "scenario/machine/named_machine.hpp"
#include "sim/topology/gpu_models.hpp"
#include "study/inputs/scenario_points.hpp"
#include "study/inputs/shipped_files.hpp"

namespace ringside::study {
namespace {

/// A machine of configs/machines, by the name of the file.
std::optional<Machine> shipped_machine(const std::string& name) {
  const auto configs = configs_directory();
  std::error_code ignored;
  const auto file = configs ? *configs / "machines" / (name + ".yaml") : std::filesystem::path();
  if (name.empty() || name.find('/') != std::string::npos ||
      !std::filesystem::is_regular_file(file, ignored)) {
    return std::nullopt;
  }
  return load_machine(file);
}

/// The offers of a file, whatever its format; what a person should know of it is noted. Throws
/// Error{bad_input} when the file cannot be read as a listing, or when no offer in it can be.
std::vector<Offer> read_offers(const std::filesystem::path& file, const KnownNames& known,
                               const Observer& observer) {
  const std::string text = valid_utf8(read_text(file));
  OfferListing listing;
  switch (listing_format(text, file.string())) {
    case ListingFormat::yaml:
      return load_offers(file, known);
    case ListingFormat::json:
      listing = read_vast_offers(text, file.string());
      break;
    case ListingFormat::csv:
      listing = read_skypilot_offers(text, file.string(), shipped_machine);
      break;
  }
  for (const std::string& note : listing.notes) {
    observer.note(note);
  }
  return std::move(listing.offers);
}

/// The request's deadline, budget and exchange rates as if the plan said so.
std::vector<KeyOverride> overrides_of(const PlanRequest& request) {
  std::vector<KeyOverride> overrides;
  for (const auto& [key, value] :
       {std::pair("deadline", request.deadline), std::pair("budget", request.budget)}) {
    if (value) {
      overrides.push_back({.key = key, .value = *value, .origin = fmt::format("--{} {}", key, *value)});
    }
  }
  if (!request.exchange.empty()) {
    overrides.push_back(
        {.key = "exchange_rates",
         .value = fmt::format("[\"{}\"]", fmt::join(request.exchange, "\", \"")),
         .origin = fmt::format("--exchange {}", fmt::join(request.exchange, " --exchange "))});
  }
  return overrides;
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
      throw bad_input(
          "{}: compute.measured: {:g} samples/s of {} are at least {:.4g} TFLOP/s, and "
          "one {} has {:.4g} in {}; is it several GPUs' speed, or another `precision`?",
          plan.file.string(), speed.samples_per_second, workload.name, least / 1e12, sheet->model,
          rate / 1e12, name(workload.compute.precision));
    }
  }
}

/// The plan with its own offers and those of the request.
Plan loaded_plan(const PlanRequest& request, const Observer& observer) {
  Plan plan = request.read ? *request.read : plan_of(request);
  for (std::size_t index = 0; index < std::min(plan.offers.size(), request.assumptions.size()); ++index) {
    plan.offers[index].assumptions = request.assumptions[index];
  }
  std::vector<Offer> more = more_offers(request, plan, observer);
  std::move(more.begin(), more.end(), std::back_inserter(plan.offers));
  if (!request.exchange.empty()) {
    require_used_rates(plan);
  }
  bring_to_one_currency(plan, plan.offers);
  require_possible_speeds(plan);
  return plan;
}

/// The best `top` offers, with what would make them better.
std::vector<ShownOffer> shown_of(Planner& planner, const Ranked& ranked, std::size_t top) {
  std::vector<ShownOffer> shown;
  for (const std::size_t index : ranked.order) {
    if (shown.size() == top || !ranked.candidates[index].step.usable()) {
      break;
    }
    const Offer& offer = ranked.offer_of(index);
    shown.push_back({.candidate = index, .thresholds = thresholds(planner, ranked.plan, offer)});
    const auto tried = alternatives(planner, ranked.plan, offer);
    if (!tried.empty() && offer.gpus > 1) {
      shown.back().best_way = describe(best_of(tried), ranked.plan);
    }
  }
  return shown;
}

/// Shown offers whose name has one of these parts; without parts, the best and the first offer.
std::vector<const ShownOffer*> to_explain(const PlanStudy& study, const std::vector<std::string>& parts) {
  std::vector<const ShownOffer*> places;
  for (const ShownOffer& shown : study.shown) {
    const std::string& name = study.ranked.offer_of(shown.candidate).name;
    const bool asked = std::ranges::any_of(
        parts, [&](const std::string& part) { return name.find(part) != std::string::npos; });
    if (parts.empty() ? shown.candidate == 0 || shown.candidate == study.ranked.recommended : asked) {
      places.push_back(&shown);
    }
  }
  // The question that the plan puts first is answered first.
  std::ranges::stable_sort(places, {}, &ShownOffer::candidate);
  return places;
}

/// What is explained and drawn of steps in buckets.
void add_explanations(Planner& planner, const PlanRequest& request, PlanStudy& study) {
  const Ranked& ranked = study.ranked;
  for (const std::string& part : request.explained) {
    if (to_explain(study, {part}).empty()) {
      throw bad_input(
          "--explain '{}': no offer that is shown has that in its name ({} of {} offers are; "
          "--top shows more)",
          part, study.shown.size(), ranked.offers.size());
    }
  }
  for (const ShownOffer* shown : to_explain(study, request.explained)) {
    study.explanations.push_back(explain(planner, ranked.plan, ranked.offer_of(shown->candidate),
                                         ranked.candidates[shown->candidate].step, shown->thresholds));
  }
  if (!study.shown.empty()) {
    const auto first = to_explain(study, {});
    study.drawn = first.empty() ? study.shown.front().candidate : first.front()->candidate;
  }
  if (request.curves) {
    add_curves(study, planner);
  }
}

}  // namespace

Plan plan_of(const PlanRequest& request, const std::vector<KeyOverride>& more) {
  std::vector<KeyOverride> overrides = overrides_of(request);
  overrides.insert(overrides.end(), more.begin(), more.end());
  return load_plan(request.plan, known_names(), configs_directory().value_or("configs") / "workloads",
                   overrides);
}

std::vector<Offer> more_offers(const PlanRequest& request, const Plan& plan, const Observer& observer) {
  const KnownNames known = known_names();
  std::vector<Offer> more;
  for (const std::string& file : request.offers) {
    std::vector<Offer> read = read_offers(file, known, observer);
    std::move(read.begin(), read.end(), std::back_inserter(more));
  }
  if (plan.offers.empty() && more.empty()) {
    throw bad_input("{}: has no offers; write `offers`, or name a file with --offers", request.plan.string());
  }
  return more;
}

PlanStudy planned(const PlanRequest& request, const Observer& observer) {
  Plan loaded = loaded_plan(request, observer);
  std::optional<Planner> asked(std::in_place, loaded);
  PlanStudy study{.ranked = steps_on(loaded, loaded.offers, *asked)};
  if (wants_layouts(study.ranked)) {
    loaded.search = true;
    asked.emplace(loaded);
    study.ranked = steps_on(loaded, loaded.offers, *asked);
    study.ranked.instead =
        "The model does not fit every GPU as plain data parallelism: ways to spread it are compared.";
  }
  Planner& planner = *asked;
  find_ties(planner, study.ranked);
  if (loaded.shards() && !study.ranked.candidates[study.ranked.best()].step.usable()) {
    study.ranked.ways_out = ways_out(study.ranked);
  }
  const bool in_buckets = computes(loaded.workload) && !loaded.shards();
  if (in_buckets) {
    study.shown = shown_of(planner, study.ranked, static_cast<std::size_t>(request.top));
    add_explanations(planner, request, study);
  }
  return study;
}

}  // namespace ringside::study
