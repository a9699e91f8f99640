#include "analysis/plan/gpu_memory.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <string>

namespace ringside {
namespace {

constexpr std::int64_t kFloat32 = 4;
constexpr std::int64_t kFloat16 = 2;
/// An assumption: CUDA context 0.3-0.5 GB, cuDNN and cuBLAS workspaces, NCCL 4 MiB per channel and peer.
constexpr Bytes kContext{1'000'000'000};

bool is_half(Precision precision) {
  return precision == Precision::float16 || precision == Precision::bfloat16;
}

}  // namespace

std::optional<std::int64_t> activations_of_sample(const Workload& workload) {
  if (workload.memory.activations) {
    return workload.memory.activations->value;
  }
  std::int64_t elements = 0;
  for (const Tensor& tensor : workload.tensors) {
    elements += tensor.activations;
  }
  const std::int64_t size = is_half(workload.compute.precision) ? kFloat16 : kFloat32;
  return elements > 0 ? std::optional(elements * size) : std::nullopt;
}

Bytes Memory::total() const {
  return {weights.value + gradients.value + optimizer.value + context.value +
          std::max(gathered.value + activations.value, update.value)};
}

Memory memory_need(const Plan& plan, int batch_per_gpu) {
  const Workload& workload = plan.workload;
  const auto gradient = static_cast<std::int64_t>(size_of(workload.gradients));
  // Parameters are of the gradients' type; optimizers keep their numbers in float32.
  const std::int64_t autocast = is_half(workload.compute.precision) && gradient == kFloat32 ? kFloat16 : 0;
  const bool in_buckets = plan.synchronisation.style != Synchronisation::per_tensor;
  return {.weights = {workload.parameters * (gradient + autocast)},
          .gradients = {workload.parameters * gradient * (in_buckets ? 2 : 1)},
          .optimizer = {workload.parameters * kFloat32 * numbers_kept(workload.memory.optimizer)},
          .activations = {activations_of_sample(workload).value_or(0) * batch_per_gpu},
          .context = kContext};
}

int numbers_kept(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::sgd:
      return 0;
    case Optimizer::momentum:
      return 1;
    case Optimizer::adam:
      return 2;
  }
  return 0;
}

double bytes_per_number(Precision precision) {
  const bool whole = precision == Precision::float32 || precision == Precision::tf32;
  return static_cast<double>(whole ? kFloat32 : kFloat16);
}

double kept_bytes_of_layer(const Transformer& model, Precision precision) {
  const double whole = bytes_per_number(precision) * kept_elements_of_layer(model);
  const double wide = (model.gated ? 3.0 : 1.0) * static_cast<double>(model.intermediate);
  const double less = 2 * static_cast<double>(model.hidden) + model.active_experts * wide;
  return precision == Precision::float8 ? whole - static_cast<double>(model.sequence) * less : whole;
}

double logit_bytes(const Transformer& model, Precision precision) {
  return bytes_per_number(precision) * static_cast<double>(model.sequence * model.vocabulary);
}

Bytes usable_memory(const GpuSheet& gpu) {
  static const std::set<std::string> decimal = {"T4",  "A10", "A10G", "A40",  "L4",
                                                "L20", "L40", "L40S", "B300", "GB300"};
  constexpr std::int64_t kGiB = 1 << 30;
  return decimal.contains(gpu.model) ? gpu.memory : Bytes{gpu.memory.value / 1'000'000'000 * kGiB};
}

std::optional<int> largest_batch(Bytes memory, Memory none, Memory one) {
  const bool fits = one.total() <= memory;
  none.update = one.update = {};
  const std::int64_t left = memory.value - none.total().value;
  const std::int64_t sample = one.total().value - none.total().value;
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  return fits && sample > 0 ? std::optional(static_cast<int>(std::min(left / sample, kMost))) : std::nullopt;
}

}  // namespace ringside
