#include "analysis/plan/run_cost.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/plan/plan_answers.hpp"
#include "common/numbers.hpp"

namespace ringside {

Interval<Seconds> with_interruptions(const Plan& plan, const Offer& offer, const Interval<Seconds>& run) {
  return (offer.interruptible ? plan.interruptions.slowdown() : 1) * run;
}

std::string interruption_sentence(const Plan& plan) {
  const Interruptions& lost = plan.interruptions;
  return fmt::format(
      "It can be taken away: once in {} is assumed, with checkpoints every {}, which adds {} to the run.",
      long_time(lost.every.value), long_time(lost.checkpoint_every.value), percent(lost.slowdown() - 1, 1));
}

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

}  // namespace ringside
