#include <fmt/format.h>

#include "real/backend/backends.hpp"
#include "real/execute/reduce.hpp"
#include "schedule/registry.hpp"

namespace ringside {
namespace {

std::optional<std::string> unavailable_here() { return std::nullopt; }

std::optional<std::string> unsupported_here(const PointKey& key) {
  if (key.algorithm == kNative) {
    return fmt::format("the threads backend has no {} of its own", name(key.collective));
  }
  return unsupported_on_cpu(key.dtype);
}

std::string describe() { return "ranks as threads of one process, for tests"; }

}  // namespace

RegisteredBackend threads_backend() {
  return {.backend = Backend::threads,
          .unavailable = unavailable_here,
          .unsupported = unsupported_here,
          .describe = describe,
          .ranks_are_threads = true};
}

}  // namespace ringside
