#include <memory>

#include "real/backend/backends.hpp"
#include "real/backend/shm/group.hpp"
#include "real/backend/shm/parts.hpp"

namespace ringside {
namespace {

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

}  // namespace

RegisteredBackend shm_backend() {
  return {.backend = Backend::shm,
          .native_unsupported = shm_native_unsupported,
          .join = join,
          .describe = [] { return std::string("CPU ranks through the memory of this machine"); },
          .reduces_on_arrival = true};
}

}  // namespace ringside
