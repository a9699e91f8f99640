#pragma once

#include <vector>

#include "scenario/plan/plan.hpp"

/// Prices in several currencies, which are compared in one: that of the budget, or else that of most offers.
namespace ringside::study {

/// By the plan's exchange rates. Offers whose price has none are kept, with that as their problem.
void bring_to_one_currency(const Plan& plan, std::vector<Offer>& offers);

/// Throws Error{bad_input} where one of the plan's exchange rates is about a currency that no price is in.
void require_used_rates(const Plan& plan);

}  // namespace ringside::study
