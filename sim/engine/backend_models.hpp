#pragma once

#include <string>

#include "common/names.hpp"
#include "scenario/machine/machine.hpp"

/// What is known of each backend, so that nobody else in sim/ asks which one it is.
namespace ringside {

/// Which model predicts a backend's own collectives (`native`).
enum class OwnCollectives { unknown, gloo_ring, nccl, two_shot, mpi_rules };

struct BackendModel {
  Backend backend;
  OwnCollectives own = OwnCollectives::unknown;
  bool on_gpus = false;
  /// Its ranks keep to cores of their own where there are enough.
  bool owns_cores = false;
  /// Its ranks read and write one memory.
  bool through_memory = false;
};

/// The row of `backend`; of `automatic`: of the one whose `native` is meant on this machine.
const BackendModel& backend_model(const Machine& machine, Backend backend);

/// The row of the backend of this name that calibrated a machine; else that of an unknown one.
const BackendModel& backend_model(const std::string& name);

}  // namespace ringside
