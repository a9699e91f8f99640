#include "analysis/sharding/sharded_compute.hpp"

#include <algorithm>

#include "analysis/plan/compute_time.hpp"
#include "analysis/sharding/sharded_memory.hpp"

namespace ringside {
namespace {

/// Optimizer traffic per trained parameter: fp32 weight, two states both ways, gradient in, 16-bit weight
/// out.
constexpr double kOptimizerTraffic = 28;

/// One GPU's measured work: with all ways' adapters, as the only way; of several, without checkpointing.
Layout measured_way(const Plan& plan, const Layout& way) {
  const bool alike =
      !plan.search && std::all_of(plan.sharding.begin(), plan.sharding.end(),
                                  [&](const Layout& other) { return other.adapters == way.adapters; });
  const bool only = !plan.search && plan.sharding.size() == 1;
  return {.adapters = alike ? way.adapters : Adapters::none,
          .rank = way.rank,
          .checkpointing = only ? way.checkpointing.value_or(Checkpointing::none) : Checkpointing::none,
          .checkpointed = way.checkpointed};
}

/// The share of the rate at which one GPU that takes all passes of `step` alone reaches the measured speed.
double measured_share(const Plan& plan, const PlannedStep& step, const GpuSheet& gpu,
                      const PlanningParameters& parameters, double samples_per_second) {
  PlannedStep alone = step;
  alone.layout = measured_way(plan, *step.layout);
  const Work work = work_of(plan.workload, alone);
  const Work operations{.matrices = work.matrices, .attention = work.attention};
  const double memory = gpu.memory_bandwidth.value;
  const double passes = step.micro_batches;
  const double measured = passes * step.micro_batch / samples_per_second;
  const double beside = (update_bytes(*plan.workload.transformer, alone) +
                         passes * work.dequantised * parameters[PlanningParameter::dequantised]) /
                        memory;
  // Overhead cannot be nearly all of a measurement that had more samples in a step.
  return passes * seconds_of(operations, gpu, plan.workload.compute.precision, {}) /
         std::max(measured - beside, measured / 2);
}

}  // namespace

Work work_of(const Workload& workload, const PlannedStep& step) {
  const Transformer& model = *workload.transformer;
  const Layout& layout = *step.layout;
  // The stage with most layers sets the pace; what is outside layers is spread evenly, as far as that can be.
  const double layers = layers_on_stage(model, layout);
  const double samples = static_cast<double>(step.micro_batch) / layout.tensor / layout.context;
  const double tokens = samples * static_cast<double>(model.sequence);
  const double matrices = 2 * tokens * layers * static_cast<double>(active_elements_of_layer(model));
  const double attention = samples * layers * forward_flops_of_layer(model) - matrices;
  const double outside =
      samples * (forward_flops_of(model) - model.layers * forward_flops_of_layer(model)) / layout.pipeline;
  // Frozen matrices need no gradient of their weights.
  const double backward = layout.adapters == Adapters::none ? 2 : 1;
  const double again = layout.recomputed();
  const double attention_again = layout.checkpointing == Checkpointing::selective ? 1 : again;
  Work work{
      .matrices = (1 + backward + again) * matrices + 3 * outside,
      .attention = (3 + attention_again) * attention,
      .traversed = (3 + again) * samples * layers * kept_bytes_of_layer(model, workload.compute.precision),
      .layers = (2 + again) * layers};
  work.last = 1 - (matrices + outside + attention) / work.operations();
  if (layout.adapters == Adapters::qlora) {
    work.dequantised =
        (2 + again) * layers * static_cast<double>(matrix_elements_of_layer(model)) / layout.tensor;
  }
  return work;
}

double update_bytes(const Transformer& model, const PlannedStep& step) {
  const bool cut = step.layout->style != ShardingStyle::ddp;
  const TrainedElements trained = trained_on_rank(model, *step.layout);
  return kOptimizerTraffic * (trained.experts / (cut ? ranks_alike_in_experts(*step.layout) : 1) +
                              trained.others / (cut ? ranks_alike(*step.layout) : 1));
}

LanguageSpeed speed_of(const Plan& plan, const GpuSheet& gpu, const PlannedStep& step,
                       const PlanningParameters& parameters) {
  const Workload& workload = plan.workload;
  const auto& ranges = workload.compute.efficiency;
  auto stated = ranges.find(gpu_class(gpu));
  stated = stated == ranges.end() ? ranges.find("default") : stated;
  for (const MeasuredSpeed& speed : workload.compute.measured) {
    const auto sheet = find_gpu_sheet(speed.gpu);
    if (speed.gpu == kAnyGpu || (sheet && sheet->model == gpu.model)) {
      return {.share = measured_share(plan, step, gpu, parameters, speed.samples_per_second),
              .dequantised = parameters[PlanningParameter::dequantised]};
    }
  }
  if (stated != ranges.end()) {
    const Interval<double>& share = stated->second;
    return {.share = share.typical,
            .dequantised = parameters[PlanningParameter::dequantised],
            .time = {.low = share.typical / share.high, .typical = 1, .high = share.typical / share.low}};
  }
  LanguageSpeed known = language_speed(gpu, workload, step.layout->adapters != Adapters::none, parameters);
  const ShardingStyle style = step.layout->style;
  if (style == ShardingStyle::zero3 || style == ShardingStyle::fsdp || style == ShardingStyle::hybrid) {
    known.layer_time *= parameters[PlanningParameter::gathered_time];
  }
  return known;
}

}  // namespace ringside
