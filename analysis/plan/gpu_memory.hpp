#pragma once

#include <optional>

#include "common/units.hpp"
#include "scenario/plan/plan.hpp"

/// What plain data parallelism keeps on every GPU.
namespace ringside {

/// The need of one GPU.
struct MemoryNeed {
  Bytes weights;    ///< With the half-precision copy that autocast makes.
  Bytes gradients;  ///< With their copy in the buckets (gradient_as_bucket_view = False).
  Bytes optimizer;
  Bytes activations;
  Bytes context;                  ///< CUDA, its libraries, and NCCL's buffers.
  bool activations_known = true;  ///< false: nothing says how large they are, and they count as nothing.

  Bytes total() const;
};

MemoryNeed memory_need(const Plan& plan, int batch_per_gpu);

/// The largest batch per GPU that fits; none when not even one sample does.
std::optional<int> largest_batch(const Plan& plan, Bytes memory);

}  // namespace ringside
