#include "analysis/plan/plan_ties.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ringside {
namespace {

/// Cost or seconds of the run, or of a sample; only offers compared by the same are compared.
Interval<double> merit_of(const Plan& plan, const Offer& offer, const OfferEstimate& estimate,
                          const Interval<Seconds>& step, bool by_cost) {
  const double samples = plan.workload.samples * plan.workload.epochs;
  const double steps = (samples > 0 ? samples : 1) / estimate.step->batch;
  const Interval<Seconds> run = with_interruptions(plan, offer, steps * step);
  if (by_cost) {
    return cost_of(offer, run, samples > 0)->amount;
  }
  return {.low = run.low.value, .typical = run.typical.value, .high = run.high.value};
}

/// Whether it is typically done in time and within the budget.
bool meets_limits(const Plan& plan, const OfferEstimate& estimate) {
  const bool late = plan.deadline && estimate.run && estimate.run->typical > *plan.deadline;
  const bool dear = plan.budget && estimate.cost && estimate.cost->amount.typical > plan.budget->amount;
  return !late && !dear;
}

/// How far two intervals share values, as a ratio's logarithm; negative = they are apart.
double shared(const Interval<double>& a, const Interval<double>& b) {
  return std::log(std::min(a.high, b.high) / std::max(a.low, b.low));
}

}  // namespace

Ties ties(Planner& planner, const Plan& plan, const std::vector<Offer>& offers,
          const std::vector<OfferEstimate>& estimates, const Ranking& ranking) {
  if (!ranking.recommended) {
    return {};
  }
  const std::size_t best = *ranking.recommended;
  const bool by_cost = offers[best].per_hour && (plan.deadline || !plan.budget);
  const auto merit = [&](std::size_t index, const Interval<Seconds>& step) {
    return merit_of(plan, offers[index], estimates[index], step, by_cost);
  };
  const auto merit_now = [&](std::size_t index) { return merit(index, estimates[index].step->total); };
  Ties found;
  for (const std::size_t index : ranking.order) {
    const bool compared = index != best && meets_limits(plan, estimates[index]) &&
                          estimates[index].step.has_value() && (!by_cost || offers[index].per_hour);
    found.compared += compared ? 1 : 0;
    if (compared && merit_now(index).low < merit_now(best).high) {
      (merit_now(index).high > merit_now(best).low ? found.offers : found.better).push_back(index);
    }
  }
  if (found.offers.empty()) {
    return found;
  }
  const std::size_t next = found.offers.front();
  double least = shared(merit_now(best), merit_now(next));
  for (const std::size_t index : {best, next}) {
    for (const auto part : {Planner::Part::computing, Planner::Part::communicating}) {
      const auto step = planner.total_if_known(offers[index], part);
      if (!step) {
        continue;
      }
      // Who measures computing of a GPU knows it for both offers that have it.
      const auto& one = offers[best].machine.gpu;
      const auto& other = offers[next].machine.gpu;
      const bool both = part == Planner::Part::computing && one && other && one->model == other->model;
      const std::size_t rest = index == best ? next : best;
      const auto of_rest = both ? planner.total_if_known(offers[rest], part) : std::nullopt;
      const double left = shared(merit(index, *step), of_rest ? merit(rest, *of_rest) : merit_now(rest));
      if (left < least) {
        least = left;
        found.breaker = {.offer = index, .part = part};
      }
    }
  }
  return found;
}

std::string verdict_of(const std::vector<Offer>& offers, const Ranking& ranking, const Ties& ties) {
  if (!ranking.recommended || ties.offers.empty()) {
    return ranking.reason;
  }
  constexpr std::size_t kMost = 4;
  const std::string& best = offers[*ranking.recommended].name;
  std::vector<std::string> names = {best};
  for (std::size_t i = 0; i < std::min(ties.offers.size(), kMost); ++i) {
    names.push_back(offers[ties.offers[i]].name);
  }
  const std::size_t more = ties.offers.size() - std::min(ties.offers.size(), kMost);
  return fmt::format("Cannot be told apart: {}{}: their 90 % intervals overlap. Typically {} is {}{}",
                     fmt::join(names, ", "), more > 0 ? fmt::format(" and {} more", more) : "", best,
                     ranking.standing, ranking.besides);
}

}  // namespace ringside
