#pragma once

#include "analysis/plan/achieved_share.hpp"
#include "analysis/plan/step.hpp"
#include "scenario/plan/plan.hpp"
#include "sim/topology/gpu_models.hpp"

/// What one GPU computes in a step of a language model that is spread over many.
namespace ringside {

/// Bytes of GPU memory that turning a four-bit weight back moves, per pass: from the difference of QLoRA and LoRA steps of four models
/// on an A100 (Lightning-AI/litgpt@4839345a tutorials/resource-tables.md): 6 to 12; with GPTQ's kernels up to 25 (QwenLM/Qwen@2df8e8ac README).
inline constexpr Interval<double> kDequantised{.low = 6, .typical = 9, .high = 25};

/// What one pass of one replica computes, on the GPU of one stage.
struct Work {
  double forward = 0;
  double backward = 0;     ///< With what checkpointing repeats.
  double dequantised = 0;  ///< Weights that are turned back from four bits.
};

/// `step`: way, layout and micro-batch.
Work work_of(const Transformer& model, const PlannedStep& step);

/// GPU memory that the optimizer reads and writes on one rank.
double update_bytes(const Transformer& model, const PlannedStep& step);

/// Share of the data sheet's rate that one GPU reaches: what the workload states, else what was published; a measured speed of one GPU
/// counts most.
AchievedShare share_of(const Plan& plan, const GpuSheet& gpu, const PlannedStep& step);

}  // namespace ringside
