#pragma once

#include "analysis/plan/achieved_share.hpp"
#include "analysis/plan/step.hpp"
#include "scenario/plan/plan.hpp"
#include "sim/topology/gpu_models.hpp"

/// What one GPU computes in a step of a language model that is spread over many.
namespace ringside {

/// What one pass of one replica computes, on the GPU of one stage. `step`: way, layout and micro-batch.
Work work_of(const Workload& workload, const PlannedStep& step);

/// GPU memory that the optimizer reads and writes on one rank.
double update_bytes(const Transformer& model, const PlannedStep& step);

/// How fast one GPU computes: as the workload states, else as published; a measured GPU counts most.
LanguageSpeed speed_of(const Plan& plan, const GpuSheet& gpu, const PlannedStep& step,
                       const PlanningParameters& parameters);

}  // namespace ringside
