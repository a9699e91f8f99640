#include <memory>

#include "real/backend/backends.hpp"
#include "real/backend/shm/group.hpp"
#include "real/backend/shm/native.hpp"
#include "real/backend/shm/transport.hpp"
#include "real/execute/reduce.hpp"
#include "schedule/registry.hpp"

namespace ringside {
namespace {

std::optional<std::string> unavailable_here() { return std::nullopt; }

std::optional<std::string> unsupported_here(const PointKey& key) {
  std::optional<std::string> reason = key.algorithm == kNative ? shm_native_unsupported(key) : std::nullopt;
  return reason ? reason : unsupported_on_cpu(key.dtype);
}

RankBackend join(const RankPlace& place) {
  const auto group = std::make_shared<ShmGroup>(place);
  RankBackend backend;
  backend.backend = Backend::shm;
  backend.transport = make_shm_transport(group, place.progress);
  backend.progress = place.progress;
  backend.cpu_site = RankSite::memory;
  backend.make_native = [group, progress = place.progress](const CollectiveCall& call,
                                                           std::span<std::byte> message) {
    return make_shm_native(group, call, message, progress);
  };
  return backend;
}

std::string describe() { return "CPU ranks through the memory of this machine"; }

}  // namespace

RegisteredBackend shm_backend() {
  return {.backend = Backend::shm,
          .unavailable = unavailable_here,
          .unsupported = unsupported_here,
          .join = join,
          .describe = describe,
          .reduces_on_arrival = true};
}

}  // namespace ringside
