#include <algorithm>
#include <limits>
#include <tuple>

#include <fmt/format.h>

#include "analysis/plan/plan_answers.hpp"
#include "analysis/plan/plan_sentences.hpp"
#include "results/codec/reader.hpp"
#include "results/journal.hpp"
#include "study/plan/plan.hpp"

namespace ringside::study {
namespace {

Interval<double> seconds_of(const Interval<Seconds>& range) {
  return {.low = range.low.value, .typical = range.typical.value, .high = range.high.value};
}

/// The best, and the best that cuts the model another way.
std::vector<ShardedStep> best_two(std::vector<ShardedStep> found) {
  if (found.empty()) {
    return found;
  }
  const auto same_cut = [&](const ShardedStep& other) {
    const Sharding& a = found.front().sharding;
    const Sharding& b = other.sharding;
    return a.style == b.style && a.tensor == b.tensor && a.pipeline == b.pipeline && a.expert == b.expert;
  };
  const auto next = std::find_if_not(found.begin(), found.end(), same_cut);
  std::vector<ShardedStep> two = {found.front()};
  if (next != found.end()) {
    two.push_back(*next);
  }
  return two;
}

bool meets(const Plan& plan, const ShardedStep& step) {
  return (!plan.deadline || (step.run && step.run->typical <= *plan.deadline)) &&
         (!plan.budget || (step.cost && step.cost->amount.typical <= plan.budget->amount));
}

/// As rank_offers(): cheapest within the deadline, fastest within the budget where there is only that.
bool by_time(const Plan& plan, const ShardedOffer& way) {
  return (plan.budget && !plan.deadline && way.step.run) || !way.step.cost;
}

double merit_in(const Plan& plan, const ShardedOffer& way) {
  return by_time(plan, way) && way.step.run ? way.step.run->typical.value : merit_of(way.step);
}

Interval<double> merits_in(const Plan& plan, const ShardedOffer& way) {
  const Interval<double>& speed = way.step.tokens_per_second;
  return !by_time(plan, way) ? way.step.cost->amount
         : way.step.run      ? seconds_of(*way.step.run)
                             : Interval<double>{1 / speed.high, 1 / speed.typical, 1 / speed.low};
}

/// Fills `tied` and `unmeasured`.
void compare_with_best(ShardingStudy& study) {
  if (study.ways.empty() || !study.why_none.empty()) {
    return;
  }
  const ShardedOffer& best = study.ways.front();
  const Interval<double> of_best = merits_in(study.plan, best);
  for (std::size_t index = 1; index < study.ways.size(); ++index) {
    const ShardedOffer& way = study.ways[index];
    if (!way.step.problem.empty() || !way.meets || way.offer == best.offer ||
        by_time(study.plan, way) != by_time(study.plan, best)) {
      continue;
    }
    const Interval<double> merits = merits_in(study.plan, way);
    if (way.step.extrapolated) {
      if (!study.unmeasured && merits.typical < of_best.typical) {
        study.unmeasured = index;
      }
    } else if (merits.low < of_best.high &&
               std::find(study.tied.begin(), study.tied.end(), way.offer) == study.tied.end()) {
      study.tied.push_back(way.offer);
    }
  }
}

}  // namespace

OfferRecord record_of(const Plan& plan, const Offer& offer, const ShardedOffer& way, bool best) {
  const ShardedStep& step = way.step;
  OfferRecord record{.name = offer.name, .source = offer.source, .gpus = offer.gpus};
  if (offer.per_hour) {
    record.per_hour = offer.per_hour->amount;
    record.currency = offer.per_hour->currency;
  }
  record.sharding = describe(step.sharding);
  record.assumptions = offer.assumptions;
  record.warnings = warnings_of(offer, step.run);
  if (step.gpu_memory) {
    record.memory = step.memory.total();
    record.gpu_memory = step.gpu_memory;
    record.largest_batch = step.largest_batch;
  }
  if (!step.problem.empty()) {
    record.problem = step.problem;
    return record;
  }
  record.micro_batch = step.micro_batch;
  record.step = seconds_of(step.total);
  record.compute = seconds_of(step.compute);
  record.communication = seconds_of(step.communication);
  record.exposed = seconds_of(step.exposed);
  record.tokens_per_second = step.tokens_per_second;
  if (step.run) {
    record.run = seconds_of(*step.run);
  }
  if (step.cost) {
    record.cost = step.cost->amount;
  }
  record.recommended = best;
  record.assumptions.push_back(step.basis);
  if (offer.interruptible) {
    record.assumptions.push_back(interruption_sentence(plan));
  }
  return record;
}

std::vector<ShardedOffer> ways_of(const Plan& plan, const std::vector<Offer>& offers) {
  ShardedPlanner planner(plan);
  std::vector<ShardedOffer> ways;
  const auto add = [&](std::size_t offer, ShardedStep step) {
    const bool in_time_and_budget = meets(plan, step);
    ways.push_back({.offer = offer, .step = std::move(step), .meets = in_time_and_budget});
  };
  for (std::size_t index = 0; index < offers.size(); ++index) {
    if (plan.search) {
      for (ShardedStep& step : best_two(planner.search(offers[index]))) {
        add(index, std::move(step));
      }
    }
    for (const Sharding& sharding : plan.sharding) {
      add(index, planner.estimate(offers[index], sharding));
    }
  }
  std::stable_sort(ways.begin(), ways.end(), [&](const ShardedOffer& a, const ShardedOffer& b) {
    // What cannot be comes last; before it what is too late or too dear, what no published run stands behind, and what has no price.
    const auto key = [&](const ShardedOffer& way) {
      return std::tuple(!way.step.problem.empty(), !way.meets, way.step.extrapolated,
                        !way.step.cost.has_value(), merit_in(plan, way));
    };
    return key(a) < key(b);
  });
  return ways;
}

std::string why_none_of(const Plan& plan, const std::vector<Offer>& offers,
                        const std::vector<ShardedOffer>& ways) {
  if (ways.empty() || !ways.front().step.problem.empty()) {
    return "None of these ways to spread the model can run on what is on offer.";
  }
  const auto named = [&](const ShardedOffer& way) {
    return fmt::format("{} with {}", offers[way.offer].name, describe(way.step.sharding));
  };
  if (ways.front().recommended()) {
    return {};
  }
  if (ways.front().meets) {
    return fmt::format(
        "Nothing is recommended: {} is typically best, but no published run of a language model was on its "
        "GPU; one measured step settles it (--known '{}: N samples/s').",
        named(ways.front()), offers[ways.front().offer].machine.gpu->model);
  }
  const auto least_by = [&](auto value) -> const ShardedOffer& {
    return *std::min_element(ways.begin(), ways.end(), [&](const ShardedOffer& a, const ShardedOffer& b) {
      return value(a.step) < value(b.step);
    });
  };
  const auto seconds = [](const ShardedStep& step) {
    return step.run ? step.run->typical.value : std::numeric_limits<double>::infinity();
  };
  const auto amount = [](const ShardedStep& step) {
    return step.cost ? step.cost->amount.typical : std::numeric_limits<double>::infinity();
  };
  const ShardedOffer& fastest = least_by(seconds);
  if (plan.deadline && seconds(fastest.step) > plan.deadline->value) {
    return fmt::format("No way is done within {}: the fastest, {}, takes {}.",
                       long_time(plan.deadline->value), named(fastest), long_time(seconds(fastest.step)));
  }
  const ShardedOffer& cheapest = least_by(amount);
  if (plan.budget && !(amount(cheapest.step) <= plan.budget->amount)) {
    return cheapest.step.cost
               ? fmt::format("No way costs at most {:.2f} {}: the cheapest, {}, costs {:.2f} {}.",
                             plan.budget->amount, plan.budget->currency, named(cheapest),
                             amount(cheapest.step), cheapest.step.cost->currency)
               : "No offer that can be used has a price to compare with the budget.";
  }
  return fmt::format("No way is both done within {} and costs at most {:.2f} {}.",
                     long_time(plan.deadline->value), plan.budget->amount, plan.budget->currency);
}

ShardingStudy shard(const PlanRequest& request, const Invocation& invocation, const Observer& observer) {
  ShardingStudy study;
  study.plan = loaded_plan(request, observer);
  study.offers = study.plan.offers;
  study.ways = ways_of(study.plan, study.offers);
  study.why_none = why_none_of(study.plan, study.offers, study.ways);
  compare_with_best(study);
  study.directory = output_directory(invocation, study.plan.name);
  Journal journal = Journal::create(study.directory / "plan.jsonl",
                                    plain_header(invocation, {.name = study.plan.name,
                                                              .file = study.plan.file.string(),
                                                              .text = read_text(study.plan.file)}));
  for (const ShardedOffer& way : study.ways) {
    journal.append(record_of(study.plan, study.offers[way.offer], way,
                             &way == &study.ways.front() && way.recommended()));
  }
  study.file = journal.file();
  return study;
}

}  // namespace ringside::study
