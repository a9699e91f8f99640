#include "analysis/sharding/sharded_traffic.hpp"

#include <cmath>

#include "analysis/sharding/sharded_memory.hpp"

namespace ringside {
namespace {

Bytes whole_bytes(double value) { return {static_cast<std::int64_t>(std::llround(value))}; }

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
  double of_model_parts();
  double of_sequences();
  /// Adds what data-parallel ranks send each other.
  void add_data_parallel(Traffic& traffic);

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
  void add_gathered_weights(Traffic& traffic);
  double between_nodes();

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

double StepTraffic::of_model_parts() {
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
    // Each stage passes activations on and gradients back (Narayanan et al. 2021, §4.1: cut by tensor ranks).
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
double StepTraffic::of_sequences() {
  if (layout_.context == 1) {
    return 0;
  }
  const double size = number_ * step_.micro_batch * 2 *
                      static_cast<double>(model_.sequence * model_.kv_width()) / layout_.tensor;
  return step_.micro_batches * layers_ *
         ((2 + layout_.recomputed()) * time(Collective::all_gather, layout_.context, layout_.tensor, size) +
          time(Collective::reduce_scatter, layout_.context, layout_.tensor, size));
}

/// Weights are gathered for both passes and gradients reduced after the second, layer by layer (Rajbhandari
/// et al. 2020, section 7.2.2): half as much again as one all_reduce.
void StepTraffic::add_gathered_weights(Traffic& traffic) {
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
double StepTraffic::between_nodes() {
  const int kept_experts = layout_.expert * among_experts_;
  if (kept_experts == among_) {
    return time(Collective::all_reduce, layout_.copies() / among_, layout_.tensor * among_,
                number_ * (elements_.experts + elements_.others) / among_);
  }
  return time(Collective::all_reduce, layout_.copies() / among_, layout_.tensor * among_,
              number_ * elements_.others / among_) +
         time(Collective::all_reduce, layout_.copies() / kept_experts, layout_.tensor * kept_experts,
              number_ * elements_.experts / among_experts_);
}

void StepTraffic::add_data_parallel(Traffic& traffic) {
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

}  // namespace

Traffic traffic_of(const Workload& workload, const PlannedStep& step, GroupTimes& times, TimeEnd end) {
  StepTraffic of_step(workload, step, times, end);
  Traffic traffic{.beside_passes = of_step.of_sequences(), .of_parts = of_step.of_model_parts()};
  if (step.layout->copies() > 1) {
    of_step.add_data_parallel(traffic);
  }
  return traffic;
}

}  // namespace ringside
