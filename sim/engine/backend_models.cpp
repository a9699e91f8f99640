#include "sim/engine/backend_models.hpp"

#include <array>

namespace ringside {
namespace {

// The first row of those on GPUs, and of those on CPUs, is what `automatic` means.
constexpr std::array kModels = {
    BackendModel{.backend = Backend::nccl, .own = OwnCollectives::nccl, .on_gpus = true},
    BackendModel{.backend = Backend::gloo, .own = OwnCollectives::gloo_ring, .owns_cores = true},
    BackendModel{.backend = Backend::shm, .own = OwnCollectives::two_shot, .through_memory = true},
    BackendModel{.backend = Backend::mpi, .own = OwnCollectives::mpi_rules},
    BackendModel{.backend = Backend::threads},
};
constexpr BackendModel kNothingKnown{.backend = Backend::automatic};

template <typename Condition>
const BackendModel& row_where(const Condition& condition) {
  const auto* found = std::ranges::find_if(kModels, condition);
  return found == kModels.end() ? kNothingKnown : *found;
}

}  // namespace

const BackendModel& backend_model(const Machine& machine, Backend backend) {
  if (backend == Backend::automatic && machine.calibrated && !machine.calibrated->backend.empty()) {
    return backend_model(machine.calibrated->backend);
  }
  return row_where([&](const BackendModel& model) {
    return backend == Backend::automatic ? model.on_gpus == machine.gpu.has_value()
                                         : model.backend == backend;
  });
}

const BackendModel& backend_model(const std::string& name) {
  return row_where([&](const BackendModel& model) { return ringside::name(model.backend) == name; });
}

}  // namespace ringside
