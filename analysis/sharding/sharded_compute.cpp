#include "analysis/sharding/sharded_compute.hpp"

#include <algorithm>

#include "analysis/plan/compute_time.hpp"
#include "analysis/sharding/sharded_memory.hpp"

namespace ringside {
namespace {

/// Memory traffic of the optimizer per trained parameter: float32 weight and two states read and written, gradient read, weight written in 16 bits.
constexpr double kOptimizerTraffic = 28;

/// What one GPU did that was measured: with the adapters that all ways have, and as the only way does it; of several, without checkpointing.
Layout measured_way(const Plan& plan, const Layout& way) {
  const bool alike =
      !plan.search && std::all_of(plan.sharding.begin(), plan.sharding.end(),
                                  [&](const Layout& other) { return other.adapters == way.adapters; });
  const bool only = !plan.search && plan.sharding.size() == 1;
  return {.adapters = alike ? way.adapters : Adapters::none,
          .rank = way.rank,
          .checkpointing = only && way.checkpointing.value_or(false)};
}

/// The share of `rate` at which one GPU that takes all passes of `step` alone reaches the measured speed.
double measured_share(const Plan& plan, const PlannedStep& step, const GpuSheet& gpu, double rate,
                      double samples_per_second) {
  const Transformer& model = *plan.workload.transformer;
  PlannedStep alone = step;
  alone.layout = measured_way(plan, *step.layout);
  const Work work = work_of(model, alone);
  const double memory = gpu.memory_bandwidth.value;
  const double passes = step.micro_batches;
  const double measured = passes * step.micro_batch / samples_per_second;
  const double beside =
      (update_bytes(model, alone) + passes * work.dequantised * kDequantised.typical) / memory;
  // What is not computing cannot be nearly all of what was measured: it was measured with more samples in a step than here.
  return passes * (work.forward + work.backward) / std::max(measured - beside, measured / 2) / rate;
}

}  // namespace

Work work_of(const Transformer& model, const PlannedStep& step) {
  // The stage with most layers sets the pace; what is outside layers is spread evenly, as far as that can be.
  const double layers_of_stage = layers_on_stage(model, *step.layout);
  const double of_layer = step.micro_batch * forward_flops_of_layer(model) / step.layout->tensor;
  const double layers = layers_of_stage * of_layer;
  const double outside =
      step.micro_batch * forward_flops_of(model) / step.layout->tensor - model.layers * of_layer;
  const double forward = layers + outside / step.layout->pipeline;
  const double matrices = 2.0 * step.micro_batch * static_cast<double>(model.sequence) * layers_of_stage *
                          static_cast<double>(active_elements_of_layer(model)) / step.layout->tensor;
  const bool adapters = step.layout->adapters != Adapters::none;
  const bool again = step.layout->checkpointing.value_or(false);
  Work work{.forward = forward,
            // Frozen matrices need no gradient of their weights.
            .backward = 2 * forward - (adapters ? matrices : 0) + (again ? layers : 0)};
  if (step.layout->adapters == Adapters::qlora) {
    work.dequantised = (again ? 3 : 2) * layers_of_stage *
                       static_cast<double>(matrix_elements_of_layer(model)) / step.layout->tensor;
  }
  return work;
}

double update_bytes(const Transformer& model, const PlannedStep& step) {
  const bool cut = step.layout->style != ShardingStyle::ddp;
  const TrainedElements trained = trained_on_rank(model, *step.layout);
  return kOptimizerTraffic * (trained.experts / (cut ? ranks_alike_in_experts(*step.layout) : 1) +
                              trained.others / (cut ? ranks_alike(*step.layout) : 1));
}

AchievedShare share_of(const Plan& plan, const GpuSheet& gpu, const PlannedStep& step) {
  const Workload& workload = plan.workload;
  const auto& ranges = workload.compute.efficiency;
  auto stated = ranges.find(gpu_class(gpu));
  stated = stated == ranges.end() ? ranges.find("default") : stated;
  for (const MeasuredSpeed& speed : workload.compute.measured) {
    const auto sheet = find_gpu_sheet(speed.gpu);
    if (speed.gpu == kAnyGpu || (sheet && sheet->model == gpu.model)) {
      return {.share = Interval<double>::exactly(measured_share(
                  plan, step, gpu, flop_rate(gpu, workload.compute.precision), speed.samples_per_second))};
    }
  }
  return stated != ranges.end() ? AchievedShare{.share = stated->second} : achieved_share(gpu);
}

}  // namespace ringside
