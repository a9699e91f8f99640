#include <algorithm>
#include <iterator>
#include <utility>

#include "analysis/plan/verdict.hpp"
#include "common/failures.hpp"
#include "common/mapped.hpp"
#include "common/numbers.hpp"
#include "scenario/keys.hpp"
#include "scenario/machine/machine_file.hpp"
#include "scenario/machine/named_machine.hpp"
#include "study/plan/plan.hpp"

namespace ringside::study {
namespace {

int number_of_gpus(const std::string& text) {
  const std::optional<int> gpus = parse_number<int>(text);
  if (!gpus || *gpus < 1) {
    throw bad_input("--sweep gpus={}: '{}' is not a number of GPUs", text, text);
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

KeyOverride override_of(const Sweep& sweep, const std::string& value) {
  return {.key = sweep.key, .value = value, .origin = "--" + origin_of(sweep, value)};
}

/// The offer with the values of those keys that are keys of machines.
Offer offer_with(Offer offer, const std::vector<Sweep>& sweeps, const std::vector<std::string>& values) {
  const auto before = num_gpus(offer.machine);
  for (std::size_t index = 0; index < sweeps.size(); ++index) {
    const std::string& key = sweeps[index].key;
    if (!is_plan_key(key) && key != "gpus") {
      offer.machine = with_value(offer.machine, override_of(sweeps[index], values[index]));
    }
  }
  rent_whole(offer, before);
  for (std::size_t index = 0; index < sweeps.size(); ++index) {
    if (sweeps[index].key != "gpus") {
      continue;
    }
    offer.gpus = number_of_gpus(values[index]);
    if (offer.machine.gpus_per_node && offer.gpus > *offer.machine.gpus_per_node * offer.machine.nodes) {
      throw bad_input("{} has no {} GPUs", offer.name, offer.gpus);
    }
  }
  return offer;
}

/// Every offer with the values of a combination; others get a problem. Throws when none can.
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
    std::ranges::transform(keys, std::back_inserter(paths),
                           [](const KeyDescription& key) { return key.path; });
  }
  return paths;
}

/// The best of one combination of values.
PlanSweepRow best_row(const std::vector<std::string>& values, const Plan& plan, std::vector<Offer> offers) {
  bring_to_one_currency(plan, offers);
  Planner planner(plan);
  const Ranked ranked = steps_on(plan, std::move(offers), planner);
  return {.values = values,
          .best = record_of(ranked, ranked.best()),
          .why_none = why_none(ranked),
          .idle_nics = idle_nics(ranked.candidates[ranked.best()].step, {})};
}

}  // namespace

PlanSweep sweep_plan(const std::vector<std::string>& sweeps, const PlanRequest& request,
                     const Observer& observer) {
  const std::vector<Offer> more = more_offers(request, plan_of(request), observer);
  PlanSweep result{.sweeps = mapped(sweeps, parse_sweep)};
  require_known_keys(result.sweeps, sweepable_keys(),
                     "a plan, a workload (docs/planning.md) or a machine (docs/scenario.md)");
  for (const std::vector<std::string>& values : combinations(result.sweeps)) {
    std::vector<KeyOverride> overrides;
    for (std::size_t index = 0; index < values.size(); ++index) {
      if (is_plan_key(result.sweeps[index].key)) {
        overrides.push_back(override_of(result.sweeps[index], values[index]));
      }
    }
    const Plan loaded = plan_of(request, overrides);
    std::vector<Offer> offers = loaded.offers;
    offers.insert(offers.end(), more.begin(), more.end());
    if (!loaded.shards() && !computes(loaded.workload)) {
      throw bad_input(
          "--sweep names the best offer of each combination, and {} has no `compute` to tell it by",
          loaded.file.string());
    }
    result.shards = loaded.shards();
    result.rows.push_back(best_row(values, loaded, offers_with(offers, result.sweeps, values)));
  }
  return result;
}

}  // namespace ringside::study
