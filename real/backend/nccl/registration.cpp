#include <fmt/format.h>

#include "real/backend/backends.hpp"
#include "real/backend/gpus.hpp"
#include "real/backend/nccl/settings.hpp"
#if RINGSIDE_HAS_NCCL
#include "real/backend/nccl/backend.hpp"
#endif

namespace ringside {
namespace {

#if RINGSIDE_HAS_NCCL
constexpr auto* kJoin = &join_nccl;
#else
constexpr RankBackend (*kJoin)(const RankPlace&) = nullptr;
#endif

/// "8 × NVIDIA H200, NCCL 2.28.9"
std::string describe() {
  const GpuMachine machine = gpu_machine();
  return fmt::format("{} × {}, NCCL {}", machine.gpus.size(),
                     machine.gpus.empty() ? "GPU" : machine.gpus.front().model,
                     nccl_version_text(machine.nccl_version.value_or(0)));
}

}  // namespace

RegisteredBackend nccl_backend() {
  return {.backend = Backend::nccl,
          .unavailable = [] { return missing_for_nccl(gpu_machine()); },
          .native_unsupported = nccl_native_unsupported,
          .join = kJoin,
          .describe = describe,
          .on_gpus = true};
}

}  // namespace ringside
