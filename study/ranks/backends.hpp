#pragma once

#include <string>
#include <vector>

#include "common/names.hpp"

namespace ringside::study {

/// What a backend can do here, for people to read.
struct BackendStatus {
  Backend backend = Backend::automatic;
  bool available = false;
  std::string detail;  ///< What it is, or why it cannot run here.
};

/// Every backend a scenario may name, except `auto`.
std::vector<BackendStatus> backend_statuses();

}  // namespace ringside::study
