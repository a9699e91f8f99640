#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analysis/plan/plan_answers.hpp"
#include "analysis/plan/planner.hpp"
#include "scenario/plan/plan.hpp"

/// How sure a recommendation is, and what would make it surer.
namespace ringside {

/// What to measure, and where.
struct TieBreaker {
  std::size_t offer = 0;  ///< Rented for it; one GPU of it is enough for computing.
  Planner::Part part = Planner::Part::computing;
};

struct Ties {
  /// Usable offers whose 90 % interval of what was compared overlaps the recommended one's. Best first.
  std::vector<std::size_t> offers = {};
  std::vector<std::size_t> better = {};  ///< Those whose interval lies below it, which are extrapolated.
  int compared = 0;                      ///< How many offers the recommended one was compared with.
  /// The one measurement after which the interval of the recommended offer and of the first of these share least; none where no
  /// measurement helps.
  std::optional<TieBreaker> breaker = {};
};

/// What to rent and why, as of Ranking::reason; where others tie with it, that they cannot be told apart comes first.
std::string verdict_of(const std::vector<Offer>& offers, const Ranking& ranking, const Ties& ties);

/// What ties with the recommended offer; nothing where none is. Compared is what rank_offers() compares: cost where it is known and asked for,
/// else time.
Ties ties(Planner& planner, const Plan& plan, const std::vector<Offer>& offers,
          const std::vector<OfferEstimate>& estimates, const Ranking& ranking);

}  // namespace ringside
