#include "analysis/sharding/sharded_traffic.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analysis/plan/compute_time.hpp"
#include "analysis/sharding/sharded_memory.hpp"
#include "common/text.hpp"
#include "sim/topology/gpu_models.hpp"
#include "sim/topology/link_kinds.hpp"

namespace ringside {
namespace {

Bytes whole_bytes(double value) { return {static_cast<std::int64_t>(std::llround(value))}; }

/// Optimizer traffic per trained parameter: fp32 weight, two states both ways, gradient in, 16-bit weight
/// out.
constexpr double kOptimizerTraffic = 28;

/// Seconds of a byte that crosses what one GPU has of its host.
struct HostTimes {
  Interval<Seconds> slot;  ///< In one direction.
  Interval<Seconds> memory;
};

/// By the generation of PCIe, unless the slot was measured. Where nothing says it, more than four GPUs of a
/// node have two sockets. One GPU reaches one.
HostTimes host_times(const Machine& machine, const Layout& layout) {
  const GpuSheet sheet = find_gpu_sheet(machine).value();
  const bool in_slots = machine.intra && machine.intra->kind == IntraKind::pcie;
  const IntraLink words = in_slots ? *machine.intra : IntraLink{};
  const int generation = words.generation.value_or(sheet.pcie_generation);
  const int all = layout.copies() * layout.tensor * layout.pipeline;
  const int on_node = std::min(all, machine.gpus_per_node.value_or(all));
  const double sockets = words.sockets.value_or(on_node > 4 ? 2 : 1);
  const auto of_byte = [](const Interval<double>& rate) {
    return Interval<Seconds>{.low = {1 / rate.high}, .typical = {1 / rate.typical}, .high = {1 / rate.low}};
  };
  return {
      .slot = of_byte(words.bandwidth
                          ? Interval<double>::exactly(words.bandwidth->value)
                          : pcie_slot(generation, words.lanes.value_or(sheet.pcie_lanes), true).bandwidth),
      .memory = of_byte(std::min(1.0, sockets / on_node) * host_memory(generation).bandwidth)};
}

/// What the collectives of one step take.
class StepTraffic {
 public:
  StepTraffic(const Workload& workload, const PlannedStep& step, GroupTimes& times, TimeEnd end)
      : model_(*workload.transformer),
        step_(step),
        layout_(*step.layout),
        times_(times),
        end_(end),
        number_(bytes_per_number(workload.compute.precision)),
        layers_(layers_on_stage(model_, layout_)),
        elements_(trained_on_rank(model_, layout_)),
        among_(ranks_alike(layout_)),
        among_experts_(ranks_alike_in_experts(layout_)) {}

  /// Seconds of ranks that work on the same sample: nothing to compute meanwhile.
  double of_model_parts() {
    const double again = 4 + 2 * layout_.recomputed();
    const double tokens =
        step_.micro_batch * static_cast<double>(model_.sequence * model_.hidden) / layout_.context;
    double seconds = 0;
    if (layout_.tensor > 1) {
      // Two all_reduces of a layer's output in each direction (Shoeybi et al. 2019, arXiv 1909.08053, §3).
      seconds += step_.micro_batches * layers_ * again *
                 time(Collective::all_reduce, layout_.tensor, 1, number_ * tokens);
    }
    if (layout_.pipeline > 1) {
      // Stages pass activations on and gradients back (Narayanan et al. 2021, §4.1: cut by tensor ranks).
      const double size = number_ * tokens / layout_.tensor;
      seconds += 2.0 * layout_.interleave * (step_.micro_batches + layout_.pipeline - 1) *
                 (times_.send(layout_.tensor * layout_.copies(), whole_bytes(size)).*end_).value;
    }
    if (layout_.expert > 1) {
      // Tokens go to experts and back, both directions (Lepikhin et al. 2020, arXiv 2006.16668, section 3.3).
      const double size = number_ * model_.active_experts * tokens / layout_.tensor;
      seconds += step_.micro_batches * layers_ * again *
                 time(Collective::all_to_all, layout_.expert, layout_.tensor, size);
    }
    return seconds;
  }

  /// Every layer gathers keys and values of the whole sequence in each pass, and reduces their gradients
  /// (Grattafiori et al. 2024, arXiv 2407.21783, section 3.3.2).
  double of_sequences() {
    if (layout_.context == 1) {
      return 0;
    }
    const double size = number_ * step_.micro_batch * 2 *
                        static_cast<double>(model_.sequence * model_.kv_width()) / layout_.tensor;
    return step_.micro_batches * layers_ *
           ((2 + layout_.recomputed()) * time(Collective::all_gather, layout_.context, layout_.tensor, size) +
            time(Collective::reduce_scatter, layout_.context, layout_.tensor, size));
  }

  /// Adds what a host does that keeps states: gradients come down as they are made, CPUs update as a GPU
  /// would (Ren et al. 2021, arXiv 2101.06840, §4.2 and §5.1), and 16-bit weights go back meanwhile; weights
  /// that are there go up for either pass.
  void add_host(const Workload& workload, Traffic& traffic) {
    const HostTimes of_byte = host_times(times_.machine(), layout_);
    const double slot = (of_byte.slot.*end_).value;
    const double update = update_bytes(model_, step_);
    const double gradients = number_ * update / kOptimizerTraffic * slot;
    Layout on_gpu = layout_;
    on_gpu.offload = Offload::none;
    const bool weights = layout_.offload == Offload::parameters;
    const auto fetched = static_cast<double>(sharded_memory(workload, on_gpu, 1, 1).weights.value);
    // zero1 adds gradients up on the GPU.
    const int passes = layout_.style == ShardingStyle::zero1 ? 1 : step_.micro_batches;
    traffic.beside_passes += passes * (gradients + (weights ? 2 * fetched * slot : 0));
    traffic.between += std::max(update * (of_byte.memory.*end_).value, weights ? 0 : gradients);
  }

  /// Adds what data-parallel ranks send each other.
  void add_data_parallel(Traffic& traffic) {
    switch (layout_.style) {
      case ShardingStyle::ddp:
        if (layout_.local_steps > 1) {
          // Weights are averaged once in so many steps, beside no computing (Stich 2019, arXiv 1805.09767).
          traffic.between += over_trained(Collective::all_reduce) / layout_.local_steps;
        } else {
          traffic.beside_backward += over_trained(Collective::all_reduce);
        }
        break;
      case ShardingStyle::zero1:
        // As much as one all_reduce (Rajbhandari et al. 2020, §7.2.1): gradients reduced, weights gathered.
        traffic.beside_backward += over_trained(Collective::reduce_scatter);
        traffic.between += over_trained(Collective::all_gather);
        break;
      case ShardingStyle::zero2:
        traffic.beside_passes += step_.micro_batches * over_trained(Collective::reduce_scatter);
        traffic.between += over_trained(Collective::all_gather);
        break;
      case ShardingStyle::hybrid:
      case ShardingStyle::zero3:
      case ShardingStyle::fsdp:
        add_gathered_weights(traffic);
        traffic.beside_backward += between_nodes();
        break;
    }
  }

 private:
  double time(Collective collective, int ranks, int stride, double size) {
    return (times_.time(collective, ranks, stride, whole_bytes(size)).*end_).value;
  }
  // HYBRID_SHARD cuts within a node; nodes add up its GPUs' parts (Zhao et al. 2023, arXiv 2304.11277,
  // §3.2.2).
  double over_data(Collective collective, double of_experts, double of_others) {
    if (among_experts_ == among_) {
      return time(collective, among_, layout_.tensor, of_experts + of_others);
    }
    return time(collective, among_experts_, layout_.tensor * layout_.expert, of_experts) +
           time(collective, among_, layout_.tensor, of_others);
  }
  double over_trained(Collective collective) {
    return over_data(collective, number_ * elements_.experts, number_ * elements_.others);
  }

  /// Weights are gathered for both passes and gradients reduced after the second, layer by layer (Rajbhandari
  /// et al. 2020, section 7.2.2): half as much again as one all_reduce.
  void add_gathered_weights(Traffic& traffic) {
    const double experts =
        static_cast<double>(expert_elements_of_layer(model_)) / layout_.expert / layout_.tensor;
    const double others =
        static_cast<double>(parameters_of_layer(model_) - expert_elements_of_layer(model_)) / layout_.tensor;
    const double outside = static_cast<double>(parameters_outside_layers(model_)) / layout_.tensor;
    const double weight = bytes_per_matrix_weight(layout_, number_);
    const double gather = layers_ * over_data(Collective::all_gather, weight * experts, weight * others) +
                          over_data(Collective::all_gather, 0, number_ * outside);
    const double reduce =
        layout_.adapters != Adapters::none
            ? over_trained(Collective::reduce_scatter)
            : layers_ * over_data(Collective::reduce_scatter, number_ * experts, number_ * others) +
                  over_data(Collective::reduce_scatter, 0, number_ * outside);
    // The first layer's weights and the last gradient have nothing beside them.
    const double ends = (gather + reduce) / (layers_ + 1);
    traffic.between += step_.micro_batches * ends;
    traffic.beside_passes += step_.micro_batches * (2 * gather + reduce - ends);
  }

  /// Nodes keep their copies equal: an all_reduce of what each GPU keeps.
  double between_nodes() {
    const auto of = [&](double elements, int among, int holders) {
      return time(Collective::all_reduce, layout_.copies() / holders, layout_.tensor * holders,
                  number_ * elements / among);
    };
    return of(elements_.others, among_, among_) +
           of(elements_.experts, among_experts_, layout_.expert * among_experts_);
  }

  const Transformer& model_;
  const PlannedStep& step_;
  const Layout& layout_;
  GroupTimes& times_;
  TimeEnd end_;
  double number_;  ///< Bytes of one.
  double layers_;
  TrainedElements elements_;
  int among_;
  int among_experts_;
};

}  // namespace

Traffic traffic_of(const Workload& workload, const PlannedStep& step, GroupTimes& times, TimeEnd end) {
  StepTraffic of_step(workload, step, times, end);
  Traffic traffic{.beside_passes = of_step.of_sequences(), .of_parts = of_step.of_model_parts()};
  if (step.layout->copies() > 1) {
    of_step.add_data_parallel(traffic);
  }
  if (step.layout->offload != Offload::none) {
    of_step.add_host(workload, traffic);
  }
  return traffic;
}

std::string host_sentence(const Machine& machine, const PlannedStep& step) {
  const HostTimes of_byte = host_times(machine, *step.layout);
  const auto rate = [](const Interval<Seconds>& time) {
    return format(BytesPerSecond{1 / time.typical.value});
  };
  return fmt::format(
      "Its host keeps {} for each GPU, which CPUs update at {} of memory; a slot passes {}. Both rates are "
      "assumed from the generation of PCIe.",
      in_gb(step.memory.host), rate(of_byte.memory), rate(of_byte.slot));
}

namespace {

/// One GPU's measured work: with all ways' adapters, as the only way; of several, without checkpointing.
Layout measured_way(const Plan& plan, const Layout& way) {
  const bool alike = !plan.search && std::ranges::all_of(plan.sharding, [&](const Layout& other) {
    return other.adapters == way.adapters;
  });
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
  const Work operations{
      .matrices = work.matrices, .vocabulary = work.vocabulary, .attention = work.attention};
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
  const Precision precision = workload.compute.precision;
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
  Work work{.matrices = (1 + backward + again) * matrices,
            .vocabulary = 3 * outside,
            .attention = (3 + attention_again) * attention,
            .traversed = (3 + again) * samples * layers * kept_bytes_of_layer(model, precision) +
                         3 * samples * logit_bytes(model, precision) / layout.pipeline,
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
  if (const std::optional<double> measured = stated_speed(workload, gpu)) {
    return {.share = measured_share(plan, step, gpu, parameters, *measured),
            .dequantised = parameters[PlanningParameter::dequantised]};
  }
  if (const Interval<double>* const share = stated_efficiency(workload, gpu)) {
    return {.share = share->typical,
            .dequantised = parameters[PlanningParameter::dequantised],
            .time = {.low = share->typical / share->high, .typical = 1, .high = share->typical / share->low}};
  }
  LanguageSpeed known = language_speed(gpu, workload, step.layout->adapters != Adapters::none, parameters);
  if (step.layout->cuts_weights()) {
    known.layer_time *= parameters[PlanningParameter::gathered_time];
  }
  return known;
}

}  // namespace ringside
