#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>

#include "common/failures.hpp"
#include "study/plan/plan.hpp"

namespace ringside::study {

void bring_to_one_currency(const Plan& plan, std::vector<Offer>& offers) {
  std::map<std::string, int> counts;
  for (const Offer& offer : offers) {
    if (offer.per_hour) {
      ++counts[offer.per_hour->currency];
    }
  }
  if (counts.empty()) {
    return;
  }
  const std::string most =
      plan.budget ? plan.budget->currency
                  : std::ranges::max_element(counts, {}, [](const auto& one) { return one.second; })->first;
  for (Offer& offer : offers) {
    if (!offer.problem.empty() || !offer.per_hour || offer.per_hour->currency == most) {
      continue;
    }
    if (const auto price = exchanged(*offer.per_hour, most, plan.exchange_rates)) {
      offer.assumptions.push_back(
          fmt::format("Its price, {:.4g} {} an hour, is {:.4g} {} at the stated exchange rate.",
                      offer.per_hour->amount, offer.per_hour->currency, price->amount, most));
      offer.per_hour = price;
    } else {
      offer.problem =
          fmt::format("its price is in {0}, and {2} in {1}; --exchange '1 {0} = … {1}' says a rate",
                      offer.per_hour->currency, most, plan.budget ? "the budget is" : "others are");
    }
  }
}

void require_used_rates(const Plan& plan) {
  const auto occurs = [&](const std::string& currency) {
    return (plan.budget && plan.budget->currency == currency) ||
           std::ranges::any_of(plan.offers, [&](const Offer& offer) {
             return offer.per_hour && offer.per_hour->currency == currency;
           });
  };
  for (const ExchangeRate& rate : plan.exchange_rates) {
    for (const std::string& currency : {rate.of.currency, rate.is.currency}) {
      if (!occurs(currency)) {
        throw bad_input("--exchange '{:g} {} = {:g} {}': no price is in {}", rate.of.amount, rate.of.currency,
                        rate.is.amount, rate.is.currency, currency);
      }
    }
  }
}

}  // namespace ringside::study
