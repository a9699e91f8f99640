#include "cli/backends.hpp"

#include <fmt/format.h>

#include "real/gpus.hpp"
#include "real/measure.hpp"
#include "real/nccl/nccl_settings.hpp"
#include "real/this_machine.hpp"

namespace ringside::cli {
namespace {

/// "8 × NVIDIA H200, NCCL 2.28.9"
std::string describe_gpus(const GpuMachine& machine) {
  return fmt::format("{} × {}, NCCL {}", machine.gpus.size(),
                     machine.gpus.empty() ? "GPU" : machine.gpus.front().model,
                     nccl_version_text(machine.nccl_version.value_or(0)));
}

}  // namespace

std::string describe(Backend backend) {
  switch (backend) {
    case Backend::gloo:
      return fmt::format("CPU ranks over TCP, Gloo {}", this_machine().gloo);
    case Backend::threads:
      return "ranks as threads of one process, for tests";
    case Backend::nccl:
      return describe_gpus(gpu_machine());
    case Backend::mpi:
      return "ranks of an MPI library";
    case Backend::automatic:
      break;
  }
  return {};
}

std::vector<BackendStatus> backend_statuses() {
  std::vector<BackendStatus> statuses;
  for (const Backend backend : {Backend::gloo, Backend::nccl, Backend::mpi, Backend::threads}) {
    const std::optional<std::string> reason = unavailable(backend);
    statuses.push_back(
        {.backend = backend, .available = !reason, .detail = reason ? *reason : describe(backend)});
  }
  return statuses;
}

}  // namespace ringside::cli
