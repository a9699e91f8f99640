#include <algorithm>
#include <tuple>

#include "results/codec/reader.hpp"
#include "results/journal.hpp"
#include "study/plan/plan.hpp"

namespace ringside::study {
namespace {

Interval<double> seconds_of(const Interval<Seconds>& range) {
  return {.low = range.low.value, .typical = range.typical.value, .high = range.high.value};
}

OfferRecord record_of(const Offer& offer, const ShardedStep& step, bool best) {
  OfferRecord record{.name = offer.name, .source = offer.source, .gpus = offer.gpus};
  if (offer.per_hour) {
    record.per_hour = offer.per_hour->amount;
    record.currency = offer.per_hour->currency;
  }
  record.sharding = describe(step.sharding);
  record.assumptions = offer.assumptions;
  record.warnings = offer.warnings;
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
  return record;
}

/// The best, and the best that cuts the model another way.
std::vector<ShardedStep> best_two(std::vector<ShardedStep> found) {
  if (found.empty()) {
    return found;
  }
  const auto same_cut = [&](const ShardedStep& other) {
    const Sharding& a = found.front().sharding;
    const Sharding& b = other.sharding;
    return a.style == b.style && a.tensor == b.tensor && a.pipeline == b.pipeline;
  };
  const auto next = std::find_if_not(found.begin(), found.end(), same_cut);
  std::vector<ShardedStep> two = {found.front()};
  if (next != found.end()) {
    two.push_back(*next);
  }
  return two;
}

std::vector<ShardedStep> searched(ShardedPlanner& planner, const Offer& offer) {
  std::vector<ShardedStep> two = best_two(planner.search(offer, Adapters::none));
  if (two.empty()) {
    // Why not: the way that cuts most.
    two.push_back(planner.estimate(offer, {.style = ShardingStyle::fsdp, .checkpointing = true}, 1));
  }
  return two;
}

}  // namespace

ShardingStudy shard(const PlanRequest& request, const Invocation& invocation, const Observer& observer) {
  ShardingStudy study;
  study.plan = loaded_plan(request, observer);
  study.offers = study.plan.offers;
  ShardedPlanner planner(study.plan);
  for (std::size_t index = 0; index < study.offers.size(); ++index) {
    if (study.plan.search) {
      for (ShardedStep& step : searched(planner, study.offers[index])) {
        study.ways.push_back({.offer = index, .step = std::move(step)});
      }
    }
    for (const Sharding& sharding : study.plan.sharding) {
      study.ways.push_back({.offer = index, .step = planner.estimate(study.offers[index], sharding)});
    }
  }
  std::stable_sort(study.ways.begin(), study.ways.end(), [](const ShardedOffer& a, const ShardedOffer& b) {
    // What cannot be comes last, before it what no published run stands behind.
    const auto key = [](const ShardedOffer& way) {
      return std::tuple(!way.step.problem.empty(), way.step.extrapolated, merit_of(way.step));
    };
    return key(a) < key(b);
  });
  study.directory = output_directory(invocation, study.plan.name);
  Journal journal = Journal::create(study.directory / "plan.jsonl",
                                    plain_header(invocation, {.name = study.plan.name,
                                                              .file = study.plan.file.string(),
                                                              .text = read_text(study.plan.file)}));
  for (const ShardedOffer& way : study.ways) {
    journal.append(
        record_of(study.offers[way.offer], way.step, &way == &study.ways.front() && !way.step.extrapolated));
  }
  study.file = journal.file();
  return study;
}

}  // namespace ringside::study
