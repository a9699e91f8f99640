#include "analysis/sharding/sharded_memory.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ringside {
namespace {

constexpr double kFourBits = 0.516;
/// CUDA 0.3 to 0.5 GB, cuBLAS, NCCL's buffers, what the allocator cannot use.
constexpr double kOutsideModel = 1.5e9;
/// DeepSpeed gathers and reduces in buckets of 5e8 elements (runtime/zero/config.py).
constexpr double kZeroBuckets = 1e9;
constexpr double kFloat32 = 4;

/// An exabyte stands for all that is more.
Bytes bytes(double value) { return {static_cast<std::int64_t>(std::llround(std::min(value, 1e18)))}; }

double adapter_elements_of_layer(const Transformer& model, int rank) {
  const std::int64_t of_attention = 4 * model.hidden + 2 * model.query_width() + 2 * model.kv_width();
  const std::int64_t of_mlp = (model.gated ? 3 : 2) * (model.hidden + model.intermediate);
  return rank * static_cast<double>(of_attention + of_mlp);
}

}  // namespace

double layers_on_stage(const Transformer& model, const Layout& layout) {
  // Parts of an interleaved pipeline that do not divide the layers are as large as the largest.
  return layout.interleave *
         std::ceil(static_cast<double>(model.layers) / layout.pipeline / layout.interleave);
}

TrainedElements trained_on_rank(const Transformer& model, const Layout& layout) {
  if (layout.adapters != Adapters::none) {
    return {.others = layers_on_stage(model, layout) * adapter_elements_of_layer(model, layout.rank) /
                      layout.tensor};
  }
  const double layers = layers_on_stage(model, layout);
  const auto experts = static_cast<double>(expert_elements_of_layer(model));
  const double others = layers * (static_cast<double>(parameters_of_layer(model)) - experts) +
                        static_cast<double>(parameters_outside_layers(model));
  return {.experts = layers * experts / layout.expert / layout.tensor, .others = others / layout.tensor};
}

int ranks_alike(const Layout& layout) {
  return layout.style == ShardingStyle::hybrid ? layout.data_on_node : layout.copies();
}

int ranks_alike_in_experts(const Layout& layout) { return std::max(1, ranks_alike(layout) / layout.expert); }

double bytes_per_matrix_weight(const Layout& layout, double number) {
  return layout.adapters == Adapters::qlora ? kFourBits : number;
}

Memory sharded_memory(const Workload& workload, const Layout& layout, int micro_batch, int micro_batches) {
  const Transformer& model = *workload.transformer;
  const double layers = layers_on_stage(model, layout);
  const double outside = static_cast<double>(parameters_outside_layers(model)) / layout.tensor;
  // Experts are cut among the ranks that share them (Lepikhin et al. 2020, arXiv 2006.16668, section 3).
  const double experts = static_cast<double>(expert_elements_of_layer(model)) / layout.expert / layout.tensor;
  const double matrices =
      static_cast<double>(matrix_elements_of_layer(model) - expert_elements_of_layer(model)) / layout.tensor;
  const double small =
      static_cast<double>(parameters_of_layer(model) - matrix_elements_of_layer(model)) / layout.tensor;
  const auto style = layout.style;
  /// Bytes that are left of what a rank has of both where its like cut it among them.
  const auto left = [&](bool is_cut, double of_experts, double of_others) {
    return bytes(is_cut ? of_experts / ranks_alike_in_experts(layout) + of_others / ranks_alike(layout)
                        : of_experts + of_others);
  };
  const bool whole_weights = !layout.cuts_weights();
  const double number = bytes_per_number(workload.compute.precision);
  const double of_matrix = bytes_per_matrix_weight(layout, number);
  // Beside four bits, the rest is cast to float32 (peft's prepare_model_for_kbit_training).
  const double of_rest = layout.adapters == Adapters::qlora ? kFloat32 : number;
  const TrainedElements trained = trained_on_rank(model, layout);
  // With a float32 copy of the parameter beside weights of 16 bits.
  const double optimizer = kFloat32 * (numbers_kept(workload.memory.optimizer) + (number < kFloat32 ? 1 : 0));
  Memory memory{};
  memory.weights = left(!whole_weights, of_matrix * layers * experts,
                        of_matrix * layers * matrices + of_rest * (layers * small + outside));
  memory.gradients = left(style != ShardingStyle::ddp && style != ShardingStyle::zero1,
                          number * trained.experts, number * trained.others);
  const bool states_cut = style != ShardingStyle::ddp;
  memory.optimizer = left(states_cut, optimizer * trained.experts, optimizer * trained.others);
  // One flat float32 buffer of all gradients (Rajbhandari et al. 2020, §3.2), or as much of intermediates
  // (torch.optim.Adam, foreach). Megatron-LM's Adam, whose way it is to cut models, is fused.
  const double update = number < kFloat32 && layout.tensor * layout.pipeline == 1 ? kFloat32 : 0;
  memory.update = left(states_cut, update * trained.experts, update * trained.others);
  if (!whole_weights) {
    // The layer at work, the next one, and the gradient of the layer before; or the embedding.
    memory.gathered = bytes(number * std::max(3 * (experts + matrices + small), outside));
  }
  if (style != ShardingStyle::ddp && style != ShardingStyle::fsdp && style != ShardingStyle::hybrid) {
    memory.gathered.value += bytes(kZeroBuckets).value;
  }
  const double under_way = std::min(micro_batches, layout.pipeline);
  const double parts = static_cast<double>(layout.tensor) * layout.context;
  const double kept = kept_bytes_of_layer(model, workload.compute.precision) / parts;
  const double input = number * static_cast<double>(model.sequence * model.hidden) / parts;
  // In the model's own type, and in float32 for the loss (Korthikanti et al. 2022, section 4.3).
  const double logits = (number + kFloat32) * static_cast<double>(model.sequence) *
                        static_cast<double>(model.vocabulary) / parts;
  const double again = layout.recomputed();
  memory.activations = bytes(micro_batch * (under_way * layers * (again * input + (1 - again) * kept) +
                                            (again > 0 ? kept : 0) + logits));
  memory.context = bytes(kOutsideModel);
  const auto leave = [&](Bytes& part) { memory.host.value += std::exchange(part, {}).value; };
  if (layout.offload != Offload::none) {
    memory.update = {};
    leave(memory.optimizer);
    if (style != ShardingStyle::zero1) {  // It adds whole gradients up where they are.
      leave(memory.gradients);
    }
  }
  if (layout.offload == Offload::parameters) {
    leave(memory.weights);
  }
  return memory;
}

}  // namespace ringside
