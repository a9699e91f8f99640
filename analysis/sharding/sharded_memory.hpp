#pragma once

#include "analysis/plan/gpu_memory.hpp"
#include "scenario/plan/sharding.hpp"
#include "scenario/plan/workload.hpp"

/// What one GPU keeps of a language model that is spread over many.
namespace ringside {

/// Layers of the stage that has most.
double layers_on_stage(const Transformer& model, const Layout& layout);

/// What one rank trains without data parallelism: its tensor- and pipeline-parallel part, its own experts;
/// all parameters, or those of adapters on every matrix of every layer.
struct TrainedElements {
  double experts = 0;
  double others = 0;
};
TrainedElements trained_on_rank(const Transformer& model, const Layout& layout);

/// Ranks that have the same part of what is not cut, and cut it among them where the style does: all
/// data-parallel ones, with `hybrid` those of a node.
int ranks_alike(const Layout& layout);
/// Those of them that have the same experts (Rajbhandari et al. 2022, arXiv 2201.05596, section 5.1).
int ranks_alike_in_experts(const Layout& layout);

/// Bytes of a matrix weight: a `number`'s, or 0.516 in NF4, doubly quantised (Dettmers et al. 2023, §3).
double bytes_per_matrix_weight(const Layout& layout, double number);

/// Mixed precision with Adam takes 2 + 2 + 12 bytes per parameter, of which stages 1, 2 and 3 cut the last,
/// the middle and the first term among data-parallel ranks (Rajbhandari et al. 2020, §5); momentum takes 8
/// instead of 12, sgd 4. Activations: kept_elements_of_layer(), cut by sequence parallelism, per micro-batch
/// under way; checkpointed, every layer's input and one layer's all (Korthikanti et al. 2022, §4, §5).
Memory sharded_memory(const Workload& workload, const Layout& layout, int micro_batch, int micro_batches);

}  // namespace ringside
