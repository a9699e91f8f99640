#include "analysis/plan/synchronisation_times.hpp"

#include "analysis/plan/all_reduce_times.hpp"
#include "common/error.hpp"

namespace ringside {
namespace {

std::optional<Seconds> typical_time(const Plan& plan, const Offer& offer, const std::string& algorithm) {
  try {
    AllReduceTimes times(offer.machine, offer.gpus, algorithm, plan.workload.gradients);
    return times.typical(gradient_bytes(plan.workload));
  } catch (const NotPredicted&) {
    return std::nullopt;
  }
}

}  // namespace

SynchronisationTimes synchronisation_times(const Plan& plan, const Offer& offer) {
  if (!offer.problem.empty()) {
    return {.problem = offer.problem};
  }
  if (offer.gpus < 2) {
    return {.problem = "one GPU has nothing to synchronise"};
  }
  try {
    AllReduceTimes times(offer.machine, offer.gpus, plan.algorithm, plan.workload.gradients);
    SynchronisationTimes found;
    found.time = times.range(gradient_bytes(plan.workload));
    found.algorithm = times.algorithm();
    found.limit = times.limit();
    found.ring = typical_time(plan, offer, "ring");
    found.naive = typical_time(plan, offer, "naive");
    return found;
  } catch (const Error& error) {
    return {.problem = error.what()};
  }
}

}  // namespace ringside
