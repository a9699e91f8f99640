#pragma once

#include <string>

#include "common/names.hpp"
#include "scenario/machine/machine.hpp"

/// What is known of each backend, so that nobody else in sim/ asks which one it is.
namespace ringside {

/// Which model predicts a backend's own collectives (`native`).
enum class OwnCollectives { unknown, gloo_ring, nccl };

struct BackendModel {
  Backend backend;
  OwnCollectives own = OwnCollectives::unknown;
  bool on_gpus = false;
  /// Its ranks keep to cores of their own where there are enough.
  bool owns_cores = false;
};

/// The row of `backend`; of `automatic`: of the one whose `native` is meant on this machine.
const BackendModel& backend_model(const Machine& machine, Backend backend);

/// The row of the backend of this name that calibrated a machine; of any other name: that of which nothing is known.
const BackendModel& backend_model(const std::string& name);

}  // namespace ringside
