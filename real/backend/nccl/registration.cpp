#include <fmt/format.h>

#include "real/backend/backends.hpp"
#include "real/backend/gpus.hpp"
#include "real/backend/nccl/settings.hpp"
#include "schedule/registry.hpp"
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

std::optional<std::string> unavailable_here() { return missing_for_nccl(gpu_machine()); }

std::optional<std::string> unsupported_here(const PointKey& key) {
  return key.algorithm == kNative ? nccl_native_unsupported(key) : std::nullopt;
}

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
          .unavailable = unavailable_here,
          .unsupported = unsupported_here,
          .join = kJoin,
          .describe = describe,
          .on_gpus = true};
}

}  // namespace ringside
