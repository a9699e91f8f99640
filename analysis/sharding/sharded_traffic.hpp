#pragma once

#include "analysis/plan/achieved_share.hpp"
#include "analysis/plan/collective_times.hpp"
#include "analysis/plan/step.hpp"
#include "scenario/plan/plan.hpp"

/// What the GPUs of a sharded step compute and send each other, and what of that computing can hide.
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

/// What an offloaded step takes for granted of its host.
std::string host_sentence(const Machine& machine, const PlannedStep& step);

/// What one pass of one replica computes, on the GPU of one stage. `step`: way, layout and micro-batch.
Work work_of(const Workload& workload, const PlannedStep& step);

/// GPU memory that the optimizer reads and writes on one rank.
double update_bytes(const Transformer& model, const PlannedStep& step);

/// How fast one GPU computes: as the workload states, else as published; a measured GPU counts most.
LanguageSpeed speed_of(const Plan& plan, const GpuSheet& gpu, const PlannedStep& step,
                       const PlanningParameters& parameters);

}  // namespace ringside
