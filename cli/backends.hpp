#pragma once

#include <string>
#include <vector>

#include "common/names.hpp"

namespace ringside::cli {

/// What a backend can do here, in words for people.
struct BackendStatus {
  Backend backend = Backend::gloo;
  bool available = false;
  std::string detail;  ///< What it is, or why it cannot run here.
};

/// What ranks of a backend are.
std::string describe(Backend backend);

/// Every backend a scenario may name, except `auto`.
std::vector<BackendStatus> backend_statuses();

}  // namespace ringside::cli
