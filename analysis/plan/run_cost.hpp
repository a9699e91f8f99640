#pragma once

#include <optional>
#include <string>

#include "common/interval.hpp"
#include "scenario/plan/plan.hpp"

/// From the time that a run computes to how long its offer is rented, and what that costs.
namespace ringside {

struct Cost {
  Interval<double> amount;
  std::string currency = {};
};

/// A run on this offer with what interruptions lose.
Interval<Seconds> with_interruptions(const Plan& plan, const Offer& offer, const Interval<Seconds>& run);
/// What that assumes.
std::string interruption_sentence(const Plan& plan);
/// What renting the offer so long costs, with what is billed at least; none where its price is not known. `whole`: the time is that of a whole
/// run, not of a part of one.
std::optional<Cost> cost_of(const Offer& offer, const Interval<Seconds>& time, bool whole);

}  // namespace ringside
