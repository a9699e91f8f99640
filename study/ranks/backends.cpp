#include "study/ranks/backends.hpp"

#include "real/backend/backends.hpp"

namespace ringside::study {

std::vector<BackendStatus> backend_statuses() {
  std::vector<BackendStatus> statuses;
  for (const RegisteredBackend& backend : all_backends()) {
    const std::optional<std::string> reason = backend.unavailable();
    statuses.push_back(
        {.backend = backend.backend, .available = !reason, .detail = reason ? *reason : backend.describe()});
  }
  return statuses;
}

}  // namespace ringside::study
