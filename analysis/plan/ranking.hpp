#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analysis/plan/planner.hpp"

/// Which step on which offer is best, how sure that is, and what would make it surer.
namespace ringside {

struct RankedStep {
  std::size_t offer = 0;  ///< Its place in Ranked::offers.
  PlannedStep step = {};
};

/// What to measure, and where.
struct TieBreaker {
  std::size_t candidate = 0;  ///< Rented for it; one GPU of it is enough for computing.
  Planner::Part part = Planner::Part::computing;
};

/// Every offer of a plan with what it would take and cost.
struct Ranked {
  Plan plan = {};
  std::vector<Offer> offers = {};  ///< Their prices have one currency.
  std::vector<RankedStep> candidates =
      {};  ///< In the order of the offers; of a model that is spread, several of each.

  std::string instead = {};   ///< Why layouts are compared that nobody asked for, a whole sentence.
  std::string ways_out = {};  ///< Where nothing fits: what would, a whole sentence.

  // By rank(), places of candidates:
  std::vector<std::size_t> order = {};  ///< All, the best first, those that cannot be used last.
  std::vector<bool> pareto = {};        ///< By candidate: nothing else is both cheaper and faster.
  std::optional<std::size_t> recommended = {};

  // By find_ties(), of the recommended one:
  /// Usable candidates whose 90 % interval of what is compared overlaps its. Best first.
  std::vector<std::size_t> tied = {};
  /// Extrapolated ones that are typically better; of plain data parallelism those whose whole interval is.
  std::vector<std::size_t> better = {};
  int compared = 0;  ///< With how many it was.
  /// The measurement after which its interval and the first tied one's share least; without a tie an
  /// all_reduce that makes its own clearly narrower. None where none helps.
  std::optional<TieBreaker> breaker = {};

  const Offer& offer_of(std::size_t candidate) const { return offers[candidates[candidate].offer]; }
  bool is_tied(std::size_t candidate) const;
  /// The recommended candidate, else the first in rank.
  std::size_t best() const { return recommended.value_or(order.front()); }
};

/// What the plan's workload asks for on every offer: steps as the plan says, a search, or gradients alone.
Ranked steps_on(const Plan& plan, std::vector<Offer> offers, Planner& planner);

/// It meets the plan's deadline and budget.
bool meets(const Plan& plan, const PlannedStep& step);
/// Cheapest within the deadline, or fastest within the budget if only that is given. What has no price comes
/// after what has one. What is extrapolated is never recommended. Of gradients alone nothing is.
void rank(Ranked& ranked);

/// Compares by what rank() does: cost where it is known and asked for, else time.
void find_ties(Planner& planner, Ranked& ranked);

}  // namespace ringside
