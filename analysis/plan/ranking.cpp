#include "analysis/plan/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

namespace ringside {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
/// An all_reduce is worth measuring where the step's interval is then this many times narrower.
constexpr double kWorthMeasuring = 1.2;

bool by_time(const Plan& plan) { return plan.budget && !plan.deadline; }

double seconds_of(const PlannedStep& step) {
  return !step.usable()           ? kInfinite
         : step.speed.typical > 0 ? run_seconds(step)
                                  : step.communication.typical.value;
}

double cost_of(const PlannedStep& step) { return step.cost ? step.cost->amount.typical : kInfinite; }

/// The best, and the best that cuts the model another way.
std::vector<PlannedStep> best_two(std::vector<PlannedStep> found) {
  const auto same_cut = [&](const PlannedStep& other) {
    const Layout& a = *found.front().layout;
    const Layout& b = *other.layout;
    return a.style == b.style && a.tensor == b.tensor && a.pipeline == b.pipeline && a.expert == b.expert;
  };
  const auto next = std::ranges::find_if_not(found, same_cut);
  std::vector<PlannedStep> two(found.begin(), found.begin() + (found.empty() ? 0 : 1));
  if (next != found.end()) {
    two.push_back(*next);
  }
  return two;
}

/// Candidates that nothing else beats in both cost and time.
std::vector<bool> pareto_front(const std::vector<RankedStep>& candidates) {
  std::vector<std::size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](std::size_t index) {
    return std::pair(seconds_of(candidates[index].step), cost_of(candidates[index].step));
  };
  std::ranges::stable_sort(order, {}, key);
  std::vector<bool> front(candidates.size());
  double cheapest = kInfinite;
  for (const std::size_t index : order) {
    if (cost_of(candidates[index].step) < cheapest) {
      front[index] = true;
      cheapest = cost_of(candidates[index].step);
    }
  }
  return front;
}

/// What ties are judged by: cost, seconds of the run, or seconds of a sample.
Interval<double> merit_of(const PlannedStep& step, bool by_cost) {
  if (by_cost) {
    return step.cost->amount;
  }
  if (step.run) {
    return values_of(*step.run);
  }
  return {.low = 1 / step.speed.high, .typical = 1 / step.speed.typical, .high = 1 / step.speed.low};
}

double width(const Interval<Seconds>& interval) { return interval.high.value / interval.low.value; }

/// How far two intervals share values, as a ratio's logarithm; negative = they are apart.
double shared(const Interval<double>& a, const Interval<double>& b) {
  return std::log(std::min(a.high, b.high) / std::max(a.low, b.low));
}

/// Whether a candidate is compared with the best: in time and within the budget, if known.
bool is_compared(const Ranked& ranked, std::size_t index, bool by_cost) {
  const std::size_t best = *ranked.recommended;
  const PlannedStep& step = ranked.candidates[index].step;
  if (index == best || !step.usable() || (by_cost && !step.cost)) {
    return false;
  }
  if (ranked.plan.shards()) {
    return meets(ranked.plan, step) && ranked.candidates[index].offer != ranked.candidates[best].offer &&
           (by_time(ranked.plan) || by_cost == step.cost.has_value());
  }
  return meets(ranked.plan, step) || (!step.cost && by_time(ranked.plan));
}

/// Where two steps in buckets tie.
std::optional<TieBreaker> breaker_of(Planner& planner, const Ranked& ranked, bool by_cost) {
  const std::size_t best = *ranked.recommended;
  const std::size_t next = ranked.tied.front();
  const auto merit_now = [&](std::size_t index) { return merit_of(ranked.candidates[index].step, by_cost); };
  const auto merit_with = [&](std::size_t index, const Interval<Seconds>& total) {
    PlannedStep step = ranked.candidates[index].step;
    step.total = total;
    step.speed = {step.batch / total.high.value, step.batch / total.typical.value,
                  step.batch / total.low.value};
    add_run(ranked.plan, ranked.offer_of(index), step);
    return merit_of(step, by_cost);
  };
  std::optional<TieBreaker> breaker;
  double least = shared(merit_now(best), merit_now(next));
  for (const std::size_t index : {best, next}) {
    for (const auto part : {Planner::Part::computing, Planner::Part::communicating}) {
      const auto total = planner.total_if_known(ranked.offer_of(index), part);
      if (!total) {
        continue;
      }
      // Who measures computing of a GPU knows it for both offers that have it.
      const auto& one = ranked.offer_of(best).machine.gpu;
      const auto& other = ranked.offer_of(next).machine.gpu;
      const bool both = part == Planner::Part::computing && one && other && one->model == other->model;
      const std::size_t rest = index == best ? next : best;
      const auto of_rest = both ? planner.total_if_known(ranked.offer_of(rest), part) : std::nullopt;
      const double left =
          shared(merit_with(index, *total), of_rest ? merit_with(rest, *of_rest) : merit_now(rest));
      if (left < least) {
        least = left;
        breaker = {.candidate = index, .part = part};
      }
    }
  }
  return breaker;
}

}  // namespace

bool Ranked::is_tied(std::size_t candidate) const {
  return !tied.empty() && (recommended == candidate || std::ranges::find(tied, candidate) != tied.end());
}

Ranked steps_on(const Plan& plan, std::vector<Offer> offers, Planner& planner) {
  Ranked ranked{.plan = plan, .offers = std::move(offers)};
  for (std::size_t index = 0; index < ranked.offers.size(); ++index) {
    const Offer& offer = ranked.offers[index];
    const auto add = [&](PlannedStep step) { ranked.candidates.push_back({index, std::move(step)}); };
    if (!computes(plan.workload)) {
      add(planner.synchronise(offer));
    } else if (!plan.shards()) {
      add(planner.estimate(offer));
    } else if (plan.search) {
      for (PlannedStep& step : best_two(planner.search(offer))) {
        add(std::move(step));
      }
    }
    for (const Layout& layout : plan.sharding) {
      add(planner.estimate(offer, layout));
    }
  }
  rank(ranked);
  return ranked;
}

bool meets(const Plan& plan, const PlannedStep& step) {
  return step.usable() && (!plan.deadline || seconds_of(step) <= plan.deadline->value) &&
         (!plan.budget || cost_of(step) <= plan.budget->amount);
}

void rank(Ranked& ranked) {
  const Plan& plan = ranked.plan;
  const bool spread = plan.shards();
  const bool trains = computes(plan.workload);
  const auto key = [&](std::size_t index) {
    const PlannedStep& step = ranked.candidates[index].step;
    const double seconds = seconds_of(step);
    const double cost = cost_of(step);
    const bool time_counts = by_time(plan) || !step.cost;
    // A layout that nobody measured would hide the measured ones of its offer.
    return std::tuple(!step.usable(), trains && !meets(plan, step), spread && step.extrapolated,
                      !step.cost && (spread || !by_time(plan)), time_counts ? seconds : cost,
                      time_counts ? cost : seconds);
  };
  ranked.order.resize(ranked.candidates.size());
  std::iota(ranked.order.begin(), ranked.order.end(), 0);
  std::ranges::stable_sort(ranked.order, {}, key);
  ranked.pareto =
      trains && !spread ? pareto_front(ranked.candidates) : std::vector<bool>(ranked.candidates.size());
  const auto best = std::ranges::find_if(ranked.order, [&](std::size_t index) {
    const PlannedStep& step = ranked.candidates[index].step;
    return trains && meets(plan, step) && !step.extrapolated;
  });
  ranked.recommended = best != ranked.order.end() ? std::optional(*best) : std::nullopt;
}

void find_ties(Planner& planner, Ranked& ranked) {
  if (!ranked.recommended) {
    return;
  }
  const bool spread = ranked.plan.shards();
  const PlannedStep& best = ranked.candidates[*ranked.recommended].step;
  const bool by_cost = best.cost && !by_time(ranked.plan);
  const Interval<double> of_best = merit_of(best, by_cost);
  const auto is_tied = [&](std::size_t offer) {
    return std::ranges::any_of(ranked.tied,
                               [&](std::size_t index) { return ranked.candidates[index].offer == offer; });
  };
  for (const std::size_t index : ranked.order) {
    if (!is_compared(ranked, index, by_cost)) {
      continue;
    }
    ++ranked.compared;
    const PlannedStep& step = ranked.candidates[index].step;
    const Interval<double> merit = merit_of(step, by_cost);
    if (spread && step.extrapolated && merit.typical < of_best.typical) {
      ranked.better.push_back(index);
    }
    if (merit.low < of_best.high && of_best.low < merit.high) {
      if (!is_tied(ranked.candidates[index].offer)) {
        ranked.tied.push_back(index);
      }
    } else if (!spread && merit.high <= of_best.low) {
      ranked.better.push_back(index);
    }
  }
  if (!spread && !ranked.tied.empty()) {
    ranked.breaker = breaker_of(planner, ranked, by_cost);
  } else if (!spread) {
    const auto known =
        planner.total_if_known(ranked.offer_of(*ranked.recommended), Planner::Part::communicating);
    if (known && width(best.total) > kWorthMeasuring * width(*known)) {
      ranked.breaker = {.candidate = *ranked.recommended, .part = Planner::Part::communicating};
    }
  }
}

}  // namespace ringside
