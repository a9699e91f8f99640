#pragma once

#include <optional>
#include <string>

#include "common/interval.hpp"
#include "scenario/plan/plan.hpp"

namespace ringside {

/// What synchronising a plan's gradients in one message takes on an offer, whatever is computed.
struct SynchronisationTimes {
  std::string problem = {};    ///< Why there is no answer; empty when there is one.
  std::string algorithm = {};  ///< What was predicted: the plan's, or what stands in for it.
  Interval<Seconds> time = {};
  std::string limit = {};  ///< What shares the ranks' traffic; may be empty.
  // By algorithms of ours, which are lower bounds; none where they cannot run.
  std::optional<Seconds> ring = {};
  std::optional<Seconds> naive = {};
};

/// Never throws for an offer that cannot be: that is its problem.
SynchronisationTimes synchronisation_times(const Plan& plan, const Offer& offer);

}  // namespace ringside
