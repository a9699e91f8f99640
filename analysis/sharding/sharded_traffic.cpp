#include "analysis/sharding/sharded_traffic.hpp"

#include <cmath>

namespace ringside {
namespace {

Bytes whole_bytes(double value) { return {static_cast<std::int64_t>(std::llround(value))}; }

}  // namespace

Traffic traffic_of(const Transformer& model, const ShardedStep& step, GroupTimes& times, TimeEnd end) {
  const Layout& layout = step.layout;
  const double number = step.bytes_per_number;
  const auto time = [&](Collective collective, int ranks, int stride, double size) {
    return (times.time(collective, ranks, stride, whole_bytes(size)).*end).value;
  };
  const double layers = layers_on_stage(model, layout);
  const double experts =
      static_cast<double>(expert_elements_of_layer(model)) / step.sharding.expert / layout.tensor;
  const double others =
      static_cast<double>(parameters_of_layer(model) - expert_elements_of_layer(model)) / layout.tensor;
  const double outside = static_cast<double>(parameters_outside_layers(model)) / layout.tensor;
  const bool again = step.sharding.checkpointing.value_or(false);
  const bool adapters = step.sharding.adapters != Adapters::none;
  Traffic traffic;
  if (layout.tensor > 1) {
    // Two all_reduces of a layer's output in each direction (Shoeybi et al. 2019, arXiv 1909.08053, section 3).
    const double size = number * step.micro_batch * static_cast<double>(model.sequence * model.hidden);
    traffic.between +=
        step.micro_batches * layers * (again ? 6 : 4) * time(Collective::all_reduce, layout.tensor, 1, size);
  }
  if (layout.pipeline > 1) {
    // Each stage passes activations on and gradients back (Narayanan et al. 2021, section 4.1: cut among tensor-parallel ranks).
    const double size =
        number * step.micro_batch * static_cast<double>(model.sequence * model.hidden) / layout.tensor;
    traffic.between += 2.0 * step.sharding.interleave * (step.micro_batches + layout.pipeline - 1) *
                       (times.send(layout.tensor * layout.data, whole_bytes(size)).*end).value;
  }
  if (step.sharding.expert > 1) {
    // Tokens go to their experts and come back, in both directions (Lepikhin et al. 2020, arXiv 2006.16668, section 3.3).
    const double size = number * step.micro_batch * model.active_experts *
                        static_cast<double>(model.sequence * model.hidden) / layout.tensor;
    traffic.between += step.micro_batches * layers * (again ? 6 : 4) *
                       time(Collective::all_to_all, step.sharding.expert, layout.tensor, size);
  }
  if (layout.data == 1) {
    return traffic;
  }
  // HYBRID_SHARD cuts within a node, and nodes add up what each of their GPUs keeps (Zhao et al. 2023, arXiv 2304.11277, section 3.2.2).
  const int among = ranks_alike(step.sharding, layout);
  const int among_experts = ranks_alike_in_experts(step.sharding, layout);
  const auto over_data = [&](Collective collective, double of_experts, double of_others) {
    if (among_experts == among) {
      return time(collective, among, layout.tensor, of_experts + of_others);
    }
    return time(collective, among_experts, layout.tensor * step.sharding.expert, of_experts) +
           time(collective, among, layout.tensor, of_others);
  };
  const TrainedElements elements = trained_on_rank(model, step.sharding, layout);
  const auto over_trained = [&](Collective collective) {
    return over_data(collective, number * elements.experts, number * elements.others);
  };
  switch (step.sharding.style) {
    case ShardingStyle::ddp:
      if (step.sharding.local_steps > 1) {
        // Weights are averaged once in so many steps, with nothing to compute meanwhile (Stich 2019, arXiv 1805.09767).
        traffic.between += over_trained(Collective::all_reduce) / step.sharding.local_steps;
      } else {
        traffic.beside_backward += over_trained(Collective::all_reduce);
      }
      break;
    case ShardingStyle::zero1:
      // As much as one all_reduce (Rajbhandari et al. 2020, section 7.2.1): gradients are reduced in parts, new weights gathered.
      traffic.beside_backward += over_trained(Collective::reduce_scatter);
      traffic.between += over_trained(Collective::all_gather);
      break;
    case ShardingStyle::zero2:
      traffic.beside_passes += step.micro_batches * over_trained(Collective::reduce_scatter);
      traffic.between += over_trained(Collective::all_gather);
      break;
    case ShardingStyle::hybrid:
    case ShardingStyle::zero3:
    case ShardingStyle::fsdp: {
      // Weights are gathered for both passes and gradients reduced after the second, layer by layer (section 7.2.2): half as much again.
      const double weight = bytes_per_matrix_weight(step.sharding, number);
      const double gather = layers * over_data(Collective::all_gather, weight * experts, weight * others) +
                            over_data(Collective::all_gather, 0, number * outside);
      const double reduce =
          adapters ? over_trained(Collective::reduce_scatter)
                   : layers * over_data(Collective::reduce_scatter, number * experts, number * others) +
                         over_data(Collective::reduce_scatter, 0, number * outside);
      // The first layer's weights and the last gradient have nothing beside them.
      const double ends = (gather + reduce) / (layers + 1);
      traffic.between += step.micro_batches * ends;
      traffic.beside_passes += step.micro_batches * (2 * gather + reduce - ends);
      const int kept_experts = step.sharding.expert * among_experts;
      if (kept_experts == among) {
        traffic.beside_backward += time(Collective::all_reduce, layout.data / among, layout.tensor * among,
                                        number * (elements.experts + elements.others) / among);
      } else {
        traffic.beside_backward +=
            time(Collective::all_reduce, layout.data / among, layout.tensor * among,
                 number * elements.others / among) +
            time(Collective::all_reduce, layout.data / kept_experts, layout.tensor * kept_experts,
                 number * elements.experts / among_experts);
      }
      break;
    }
  }
  return traffic;
}

}  // namespace ringside
