#include "analysis/plan/verdict.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/plan/plan_sentences.hpp"
#include "common/text.hpp"

namespace ringside {
namespace {

constexpr std::size_t kMostNames = 4;

std::string amount_text(double cost, const std::string& currency) {
  return fmt::format("{} {}", money_text(cost), currency);
}

/// Runs of a model that is spread cost hundreds.
std::string whole_amount_text(double cost, const std::string& currency) {
  return fmt::format("{:.{}f} {}", cost, cost < 10 ? 2 : 0, currency);
}

std::string gpu_of(const Offer& offer, const char* otherwise) {
  return offer.machine.gpu ? offer.machine.gpu->model : otherwise;
}

std::string named(const Ranked& ranked, std::size_t index) {
  const auto& layout = ranked.candidates[index].step.layout;
  const std::string& name = ranked.offer_of(index).name;
  return layout ? fmt::format("{} with {}", name, describe(*layout)) : name;
}

/// Offers of which no price is known, the best first; empty where there are none.
std::string unpriced_sentence(const Ranked& ranked) {
  std::vector<std::string> names;
  for (const std::size_t index : ranked.order) {
    const PlannedStep& step = ranked.candidates[index].step;
    const std::string& name = ranked.offer_of(index).name;
    const bool again = step.layout && std::ranges::find(names, name) != names.end();
    if (step.usable() && !step.cost && !again) {
      names.push_back(name);
    }
  }
  return names.empty()
             ? std::string{}
             : fmt::format("The price of {} is unknown; it may be lower.", first_few(names, kMostNames));
}

/// Nobody published how fast its GPU trains such a model, and what to do about it.
std::string unpublished(const Offer& offer) {
  const std::string gpu = gpu_of(offer, "its GPU");
  return fmt::format(
      "no published run trains such a model on {0}; one measured step settles it (--known '{0}: N "
      "samples/s')",
      gpu);
}

/// What is said of a candidate that would be better than the recommended one.
std::string extrapolated_sentence(const Ranked& ranked, std::size_t index, const std::string& price = {}) {
  return fmt::format("{} may be better{}, but its speed is extrapolated: {}.", named(ranked, index), price,
                     unpublished(ranked.offer_of(index)));
}

// --- Why nothing is recommended ----------------------------------------------------------------------------

std::string why_too_late_or_dear(const Ranked& ranked) {
  const Plan& plan = ranked.plan;
  const bool spread = plan.shards();
  const auto least_by = [&](auto value) {
    return *std::ranges::min_element(ranked.order, {},
                                     [&](std::size_t index) { return value(ranked.candidates[index].step); });
  };
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  const auto seconds = [](const PlannedStep& step) { return step.usable() ? run_seconds(step) : kUnknown; };
  const auto cost = [](const PlannedStep& step) { return step.cost ? step.cost->amount.typical : kUnknown; };
  const char* what = spread ? "way" : "offer";
  const std::size_t fastest = least_by(seconds);
  const double least_time = seconds(ranked.candidates[fastest].step);
  if (plan.deadline && least_time > plan.deadline->value) {
    return fmt::format("No {} is done within {}: the fastest, {}, takes {}.", what,
                       long_time(plan.deadline->value), named(ranked, fastest), long_time(least_time));
  }
  const std::size_t cheapest = least_by(cost);
  const double least_cost = cost(ranked.candidates[cheapest].step);
  if (plan.budget && least_cost > plan.budget->amount) {
    if (least_cost == kUnknown) {
      return "No usable offer has a price: the budget cannot be checked.";
    }
    return fmt::format("No {} costs at most {}: the cheapest, {}, costs {}.", what,
                       amount_text(plan.budget->amount, plan.budget->currency), named(ranked, cheapest),
                       amount_text(least_cost, plan.budget->currency));
  }
  return fmt::format("No {} is both done within {} and costs at most {}.", what,
                     long_time(plan.deadline->value),
                     amount_text(plan.budget->amount, plan.budget->currency));
}

// --- Plain data parallelism --------------------------------------------------------------------------------

/// `the cheapest of 3 offers that are done within 1 h`.
std::string place_of_best(const Ranked& ranked, bool by_cost) {
  const Plan& plan = ranked.plan;
  std::ptrdiff_t compared = 0;
  bool guessed = false;
  for (const auto& [offer, step] : ranked.candidates) {
    compared += meets(plan, step) && !step.extrapolated && (!by_cost || step.cost) ? 1 : 0;
    guessed = guessed || (meets(plan, step) && step.extrapolated);
  }
  std::vector<std::string> with;
  if (by_cost && !unpriced_sentence(ranked).empty()) {
    with.emplace_back("a price");
  }
  if (guessed) {
    with.emplace_back("a known speed");
  }
  const bool one = compared == 1;
  std::string limits;
  if (plan.deadline) {
    limits = fmt::format(" that {} done within {}", one ? "is" : "are", long_time(plan.deadline->value));
  }
  if (plan.budget) {
    limits += fmt::format("{} {} at most {}", limits.empty() ? " that" : " and", one ? "costs" : "cost",
                          amount_text(plan.budget->amount, plan.budget->currency));
  }
  const std::string offers = fmt::format(
      "offer{}{}{}", one ? "" : "s", with.empty() ? "" : fmt::format(" with {}", fmt::join(with, " and ")),
      limits.empty() ? " that can be used" : limits);
  return one ? fmt::format("the only {}", offers)
             : fmt::format("the {} of {} {}", by_cost ? "cheapest" : "fastest", compared, offers);
}

/// The measurement that would tell most.
std::string breaker_sentence(const Ranked& ranked) {
  const Offer& offer = ranked.offer_of(ranked.breaker->candidate);
  const std::string price = offer.per_hour
                                ? fmt::format("; an hour of it costs {}",
                                              amount_text(offer.per_hour->amount, offer.per_hour->currency))
                                : "";
  if (ranked.breaker->part == Planner::Part::computing && offer.machine.gpu) {
    return fmt::format("Measure this next: the speed of one {0} (--known '{0}: N samples/s'){1}.",
                       offer.machine.gpu->model, price);
  }
  return fmt::format("Measure this next: one all_reduce of {1} on {0} (--known '{0}: {1} in T ms'){2}.",
                     offer.name, model_size(gradient_bytes(ranked.plan.workload)), price);
}

/// The best and those that tie with it.
std::string tied_names(const Ranked& ranked) {
  std::vector<std::string> names = {ranked.offer_of(*ranked.recommended).name};
  std::ranges::transform(ranked.tied, std::back_inserter(names),
                         [&](std::size_t index) { return ranked.offer_of(index).name; });
  return first_few(names, kMostNames + 1);
}

std::vector<std::string> verdict_in_buckets(const Ranked& ranked) {
  const std::size_t best = *ranked.recommended;
  const PlannedStep& step = ranked.candidates[best].step;
  const std::string& name = ranked.offer_of(best).name;
  const bool by_cost = step.cost && (ranked.plan.deadline || !ranked.plan.budget);
  const std::string place =
      fmt::format("{}: {} for {}{}.", place_of_best(ranked, by_cost), long_time(run_seconds(step)),
                  step.run ? "the run" : "a million samples",
                  step.cost ? ", " + amount_text(step.cost->amount.typical, step.cost->currency) : "");
  std::string besides = by_cost ? unpriced_sentence(ranked) : "";
  besides = besides.empty() ? "" : " " + besides;
  if (best != ranked.order.front()) {
    besides += " " + extrapolated_sentence(ranked, ranked.order.front());
  }
  if (ranked.tied.empty()) {
    std::vector<std::string> lines = {fmt::format("{} {}: it is {}{}",
                                                  ranked.better.empty() ? "Rent" : "By published speeds rent",
                                                  name, place, besides)};
    if (ranked.better.empty() && ranked.compared > 0) {
      lines.emplace_back("Its 90 % interval overlaps no other offer's.");
    }
    return lines;
  }
  return {fmt::format("A tie between {}: their 90 % intervals overlap. Best guess: {}, {}{}",
                      tied_names(ranked), name, place, besides)};
}

// --- A model that is spread --------------------------------------------------------------------------------

/// `the run of 15 B tokens`
std::string run_words(const Workload& workload) {
  return "the run of " +
         token_text(workload.samples * workload.epochs * static_cast<double>(workload.transformer->sequence));
}

std::string cost_after_comma(const PlannedStep& step) {
  return step.cost ? ", " + whole_amount_text(step.cost->amount.typical, step.cost->currency) : "";
}

std::vector<std::string> verdict_of_layouts(const Ranked& ranked) {
  const std::size_t best = *ranked.recommended;
  const PlannedStep& step = ranked.candidates[best].step;
  const std::string takes =
      fmt::format("{} for {}{}", long_time(run_seconds(step)),
                  step.run ? run_words(ranked.plan.workload) : "a billion tokens", cost_after_comma(step));
  std::vector<std::string> lines;
  if (ranked.tied.empty()) {
    lines.push_back(fmt::format("{} {}: {}.", ranked.better.empty() ? "Rent" : "By published speeds rent",
                                named(ranked, best), takes));
  } else {
    lines.push_back(fmt::format(
        "A tie between {}: their 90 % intervals overlap. {}: {}, {}.", tied_names(ranked),
        ranked.better.empty() ? "Best guess" : "Best by published speeds", named(ranked, best), takes));
  }
  if (!ranked.better.empty()) {
    const std::size_t index = ranked.better.front();
    lines.push_back(extrapolated_sentence(ranked, index, cost_after_comma(ranked.candidates[index].step)));
  }
  if (ranked.order.size() > 1) {
    const std::size_t next = ranked.order[1];
    const PlannedStep& second = ranked.candidates[next].step;
    if (second.usable() && (ranked.better.empty() || ranked.better.front() != next)) {
      lines.push_back(fmt::format("Next is {}: {}{}.", named(ranked, next), long_time(run_seconds(second)),
                                  cost_after_comma(second)));
    }
  }
  const std::string unpriced = step.cost ? unpriced_sentence(ranked) : std::string{};
  if (!unpriced.empty()) {
    lines.push_back(unpriced);
  }
  return lines;
}

/// The same for a model that is spread.
std::string step_sentence(const Offer& offer) {
  return fmt::format(
      "Measure this next: one step on one GPU (--known '{}: N samples/s'){}.", gpu_of(offer, "GPU"),
      offer.per_hour ? fmt::format("; an hour of the offer costs {}",
                                   whole_amount_text(offer.per_hour->amount, offer.per_hour->currency))
                     : "");
}

}  // namespace

std::vector<std::string> next_steps(const Ranked& ranked) {
  if (ranked.plan.shards() && !ranked.tied.empty()) {
    return {step_sentence(ranked.offer_of(*ranked.recommended))};
  }
  return ranked.breaker ? std::vector{breaker_sentence(ranked)} : std::vector<std::string>{};
}

std::string why_none(const Ranked& ranked) {
  if (ranked.recommended) {
    return {};
  }
  if (ranked.candidates.empty() || !ranked.candidates[ranked.order.front()].step.usable()) {
    if (ranked.plan.shards()) {
      return "No offer can run the model in any of these ways." +
             (ranked.ways_out.empty() ? "" : " " + ranked.ways_out);
    }
    return ranked.candidates.empty()
               ? "There are no offers."
               : fmt::format("No offer can be used. {}: {}.", ranked.offers.front().name,
                             ranked.candidates.front().step.problem);
  }
  if (!computes(ranked.plan.workload)) {
    return {};
  }
  const std::size_t first = ranked.order.front();
  if (!meets(ranked.plan, ranked.candidates[first].step)) {
    return why_too_late_or_dear(ranked);
  }
  return fmt::format("Nothing is recommended. {} is typically best, but {}.", named(ranked, first),
                     unpublished(ranked.offer_of(first)));
}

std::vector<std::string> verdict(const Ranked& ranked) {
  if (!ranked.recommended) {
    return ranked.plan.shards() ? std::vector<std::string>{} : std::vector{why_none(ranked)};
  }
  return ranked.plan.shards() ? verdict_of_layouts(ranked) : verdict_in_buckets(ranked);
}

}  // namespace ringside
