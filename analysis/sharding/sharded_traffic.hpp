#pragma once

#include "analysis/plan/collective_times.hpp"
#include "analysis/plan/step.hpp"

/// What the GPUs of a sharded step send each other, and what of it computing can hide.
namespace ringside {

using TimeEnd = Seconds Interval<Seconds>::*;

/// Communication of a step of one GPU.
struct Traffic {
  double beside_passes = 0;    ///< Can be hidden behind computing of every micro-batch.
  double beside_backward = 0;  ///< Can be hidden behind the last backward pass.
  double between = 0;          ///< Nothing to compute meanwhile.
  double of_parts =
      0;  ///< Between ranks that work on the same sample; what computes next waits for most of it.
};

/// `end`: which end of what collectives cost.
Traffic traffic_of(const Workload& workload, const PlannedStep& step, GroupTimes& times, TimeEnd end);

}  // namespace ringside
