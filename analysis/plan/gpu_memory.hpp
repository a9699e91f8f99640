#pragma once

#include <optional>

#include "common/units.hpp"
#include "scenario/machine/catalog.hpp"
#include "scenario/plan/plan.hpp"

/// What one GPU keeps.
namespace ringside {

struct Memory {
  Bytes weights;    ///< With the half-precision copy that autocast makes.
  Bytes gradients;  ///< With their copy in buckets (gradient_as_bucket_view = False).
  Bytes optimizer;
  Bytes gathered = {};  ///< Whole layers while they are at work, and buckets of what is cut.
  Bytes activations;
  Bytes update = {};  ///< What the optimizer's step takes beside its numbers, once both above are gone.
  Bytes context;      ///< CUDA, its libraries, and NCCL's buffers.
  Bytes host = {};    ///< That its host keeps instead; no part of total().

  Bytes total() const;
};

/// With plain data parallelism. Activations of which nothing says how large they are count as nothing.
Memory memory_need(const Plan& plan, int batch_per_gpu);
/// Bytes of one sample that are kept for the backward pass; none where nothing says it.
std::optional<std::int64_t> activations_of_sample(const Workload& workload);

/// Numbers of float32 that an optimizer keeps of each parameter.
int numbers_kept(Optimizer optimizer);

/// Bytes of a number of weights, gradients and activations: mixed precision keeps them in 16 bits.
double bytes_per_number(Precision precision);

/// Bytes of one sample that a layer keeps for its backward pass. In 8 bits, what matrices multiply is kept
/// in them: two norms' outputs and the gate's product, of which one fused kernel needs no other copy.
double kept_bytes_of_layer(const Transformer& model, Precision precision);

/// Bytes of what one sample's tokens say of each word of the vocabulary.
double logit_bytes(const Transformer& model, Precision precision);

/// What programs find on a card: one sold with 40 GB has 40 GiB, 42.9e9 bytes (`nvidia-smi`: 40960 MiB).
/// Cards of GDDR6 with ECC lose a sixteenth of it; B300 and GB300 are sold by 10^9 bytes.
Bytes usable_memory(const GpuSheet& gpu);

/// The largest batch that fits; none when no sample does. `none`, `one`: bytes for 0 and 1 samples.
std::optional<int> largest_batch(Bytes memory, Memory none, Memory one);

}  // namespace ringside
