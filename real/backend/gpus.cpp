#include "real/backend/gpus.hpp"

#include <fmt/format.h>

#include "common/text.hpp"
#include "real/backend/backends.hpp"
#include "real/backend/nccl/settings.hpp"

namespace ringside {

#if !RINGSIDE_HAS_NCCL
GpuMachine gpu_machine() { return {}; }
#endif

std::string pcie_kind(int nvml_level) {
  constexpr int kMultiple = 20;    // Within PCIe switches.
  constexpr int kHostBridge = 30;  // Through one host bridge.
  constexpr int kNode = 40;        // Between host bridges of one NUMA node.
  if (nvml_level <= kMultiple) {
    return "PCIe switch";
  }
  if (nvml_level <= kHostBridge) {
    return "PCIe host bridge";
  }
  return nvml_level <= kNode ? "PCIe between host bridges" : "PCIe inter-socket link";
}

std::optional<std::string> missing_for_nccl(const GpuMachine& machine) {
  if (!machine.built) {
    return "this build has no nccl backend; build where the CUDA Toolkit (12 or later) and NCCL (2.18 or "
           "later) are "
           "installed";
  }
  if (!machine.driver_loaded) {
    return "no NVIDIA driver is loaded on this machine";
  }
  if (!machine.trouble.empty()) {
    return fmt::format(
        "the NVIDIA driver, which runs CUDA up to {}, is of no use to this build for CUDA {}: {}",
        machine.cuda_of_driver, machine.cuda_built, machine.trouble);
  }
  if (machine.gpus.empty()) {
    return "the NVIDIA driver is loaded but finds no GPU";
  }
  if (!machine.nccl_version) {
    return machine.nccl_library;
  }
  if (*machine.nccl_version < kOldestNccl) {
    return fmt::format("NCCL {} ({}) is too old; {} or later is needed",
                       nccl_version_text(*machine.nccl_version), machine.nccl_library,
                       nccl_version_text(kOldestNccl));
  }
  return std::nullopt;
}

std::optional<std::string> too_few_gpus(int num_gpus, int num_ranks, int ranks_per_gpu) {
  const int needed = gpus_needed(num_ranks, ranks_per_gpu);
  if (needed <= num_gpus) {
    return std::nullopt;
  }
  return fmt::format(
      "{} ranks need {}, but this machine has {}; --ranks-per-gpu K puts several on one GPU, for "
      "trying it out",
      num_ranks, count_of(needed, "GPU"), num_gpus);
}

RegisteredBackend nccl_backend() {
  return {
    .backend = Backend::nccl, .unavailable = [] { return missing_for_nccl(gpu_machine()); },
    .native_unsupported = nccl_native_unsupported,
#if RINGSIDE_HAS_NCCL
    .join = join_nccl,
#endif
    .describe =
        [] {  // "8 × NVIDIA H200, NCCL 2.28.9"
          const GpuMachine machine = gpu_machine();
          return fmt::format("{} × {}, NCCL {}", machine.gpus.size(),
                             machine.gpus.empty() ? "GPU" : machine.gpus.front().model,
                             nccl_version_text(machine.nccl_version.value_or(0)));
        },
    .on_gpus = true
  };
}

}  // namespace ringside
