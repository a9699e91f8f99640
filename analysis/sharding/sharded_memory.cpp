#include "analysis/sharding/sharded_memory.hpp"

#include <algorithm>
#include <cmath>

namespace ringside {
namespace {

constexpr double kHalf = 2;  ///< Bytes of a number in 16 bits.
constexpr double kFourBits = 0.516;
/// CUDA 0.3 to 0.5 GB, cuBLAS, NCCL's buffers, what the allocator cannot use.
constexpr double kOutsideModel = 1.5e9;
/// DeepSpeed gathers and reduces in buckets of 5e8 elements (runtime/zero/config.py).
constexpr double kZeroBuckets = 1e9;
/// Bytes per output of the vocabulary and token: in 16 bits, and in float32 for the loss (Korthikanti et al. 2022, section 4.3).
constexpr double kLogit = 6;

double optimizer_bytes(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::sgd:
      return 4;
    case Optimizer::momentum:
      return 8;
    case Optimizer::adam:
      return 12;
  }
  return 12;
}

Bytes bytes(double value) { return {static_cast<std::int64_t>(std::llround(value))}; }

double adapter_elements_of_layer(const Transformer& model, int rank) {
  const auto hidden = static_cast<double>(model.hidden);
  const auto kv = static_cast<double>(model.kv_width());
  const auto wide = static_cast<double>(model.intermediate);
  return rank * (2 * (hidden + hidden) + 2 * (hidden + kv) + (model.gated ? 3 : 2) * (hidden + wide));
}

}  // namespace

Bytes ShardedMemory::total() const {
  return {weights.value + gradients.value + optimizer.value + gathered.value + activations.value +
          context.value};
}

double trained_parameters(const Transformer& model, const Sharding& sharding) {
  return sharding.adapters == Adapters::none ? static_cast<double>(parameters_of(model))
                                             : model.layers * adapter_elements_of_layer(model, sharding.rank);
}

double bytes_per_matrix_weight(const Sharding& sharding) {
  return sharding.adapters == Adapters::qlora ? kFourBits : kHalf;
}

ShardedMemory sharded_memory(const Workload& workload, const Sharding& sharding, const Layout& layout,
                             bool checkpointing, int micro_batch, int micro_batches) {
  const Transformer& model = *workload.transformer;
  const double parts = layout.tensor * layout.pipeline;
  const double layers = std::ceil(static_cast<double>(model.layers) / layout.pipeline);
  const double outside = static_cast<double>(parameters_outside_layers(model)) / layout.tensor;
  // Experts are cut among the ranks that share them (Lepikhin et al. 2020, arXiv 2006.16668, section 3).
  const auto experts = static_cast<double>(expert_elements_of_layer(model));
  const double of_layer =
      static_cast<double>(matrix_elements_of_layer(model)) - experts + experts / sharding.expert;
  const double matrices = layers * of_layer / layout.tensor;
  const double small = layers *
                       static_cast<double>(parameters_of_layer(model) - matrix_elements_of_layer(model)) /
                       layout.tensor;
  const double weights = bytes_per_matrix_weight(sharding) * matrices + kHalf * (small + outside);
  const double trained = sharding.adapters == Adapters::none ? matrices + small + outside
                                                             : trained_parameters(model, sharding) / parts;
  const auto style = sharding.style;
  const int among = style == ShardingStyle::hybrid ? layout.data_on_node : layout.data;
  const auto cut = [&](bool is_cut) { return is_cut ? static_cast<double>(among) : 1.0; };
  const bool whole_weights =
      style != ShardingStyle::zero3 && style != ShardingStyle::fsdp && style != ShardingStyle::hybrid;
  ShardedMemory memory{};
  memory.weights = bytes(weights / cut(!whole_weights));
  memory.gradients =
      bytes(kHalf * trained / cut(style != ShardingStyle::ddp && style != ShardingStyle::zero1));
  memory.optimizer =
      bytes(optimizer_bytes(workload.memory.optimizer) * trained / cut(style != ShardingStyle::ddp));
  if (!whole_weights) {
    // The layer at work, the next one that is fetched, and the gradient of the layer before; or the embedding.
    const double layer =
        of_layer / layout.tensor +
        static_cast<double>(parameters_of_layer(model) - matrix_elements_of_layer(model)) / layout.tensor;
    memory.gathered = bytes(kHalf * std::max(3 * layer, outside));
  }
  if (style != ShardingStyle::ddp && style != ShardingStyle::fsdp && style != ShardingStyle::hybrid) {
    memory.gathered.value += bytes(kZeroBuckets).value;
  }
  const double under_way = std::min(micro_batches, layout.pipeline);
  const double kept = kHalf * kept_elements_of_layer(model) / layout.tensor;
  const double input = kHalf * static_cast<double>(model.sequence * model.hidden) / layout.tensor;
  const double logits =
      kLogit * static_cast<double>(model.sequence) * static_cast<double>(model.vocabulary) / layout.tensor;
  memory.activations =
      bytes(micro_batch *
            ((checkpointing ? under_way * layers * input + kept : under_way * layers * kept) + logits));
  memory.context = bytes(kOutsideModel);
  return memory;
}

}  // namespace ringside
