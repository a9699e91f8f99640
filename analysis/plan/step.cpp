#include "analysis/plan/step.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/plan/plan_sentences.hpp"
#include "common/numbers.hpp"

namespace ringside {
namespace {

/// `whole`: the time is that of a whole run, not of a part of one.
std::optional<Cost> cost_of(const Offer& offer, const Interval<Seconds>& time, bool whole) {
  if (!offer.per_hour) {
    return std::nullopt;
  }
  const double least = whole && offer.minimum ? offer.minimum->value : 0;
  const auto price = [&](Seconds rented) {
    return offer.per_hour->amount * std::max(rented.value, least) / 3600;
  };
  return Cost{.amount = {.low = price(time.low), .typical = price(time.typical), .high = price(time.high)},
              .currency = offer.per_hour->currency};
}

}  // namespace

double run_unit(const PlannedStep& step) { return step.layout ? 1e9 : 1e6; }

double run_seconds(const PlannedStep& step) {
  return step.run ? step.run->typical.value : run_unit(step) / step.speed.typical;
}

void add_run(const Plan& plan, const Offer& offer, PlannedStep& step) {
  const double samples = plan.workload.samples * plan.workload.epochs;
  const double per_step =
      step.layout ? step.batch * static_cast<double>(plan.workload.transformer->sequence) : step.batch;
  const double steps = samples > 0 ? samples / step.batch : run_unit(step) / per_step;
  const Interval<Seconds> run =
      (offer.interruptible ? plan.interruptions.slowdown() : 1) * (steps * step.total);
  if (samples > 0) {
    step.run = run;
  }
  step.cost = cost_of(offer, run, samples > 0);
}

std::string interruption_sentence(const Plan& plan) {
  const Interruptions& lost = plan.interruptions;
  return fmt::format("It is interrupted once in {}, with checkpoints every {}: that adds {} to the run.",
                     long_time(lost.every.value), long_time(lost.checkpoint_every.value),
                     percent(lost.slowdown() - 1, 1));
}

}  // namespace ringside
