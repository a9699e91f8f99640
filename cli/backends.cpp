#include "cli/backends.hpp"

#include <fmt/format.h>

#include "real/measure.hpp"
#include "real/this_machine.hpp"

namespace ringside::cli {
namespace {

std::string description(Backend backend) {
  switch (backend) {
    case Backend::gloo:
      return fmt::format("CPU ranks over TCP, Gloo {}", this_machine().gloo);
    case Backend::threads:
      return "ranks as threads of one process, for tests";
    case Backend::nccl:
      return "GPU ranks";
    case Backend::mpi:
      return "ranks of an MPI library";
    case Backend::automatic:
      break;
  }
  return {};
}

}  // namespace

std::vector<BackendStatus> backend_statuses() {
  std::vector<BackendStatus> statuses;
  for (const Backend backend : {Backend::gloo, Backend::nccl, Backend::mpi, Backend::threads}) {
    const std::optional<std::string> reason = unavailable(backend);
    statuses.push_back(
        {.backend = backend, .available = !reason, .detail = reason ? *reason : description(backend)});
  }
  return statuses;
}

}  // namespace ringside::cli
