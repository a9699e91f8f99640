#include "real/backend/backends.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "common/failures.hpp"
#include "real/backend/gpus.hpp"
#include "real/execute/reduce.hpp"
#include "schedule/registry.hpp"

namespace ringside {
namespace {

void require_known_algorithm(const PointKey& key) {
  if (key.algorithm != kNative) {
    known_algorithm(key.collective, key.algorithm);
  }
}

std::optional<std::string> algorithm_unsupported(const PointKey& key, const RankPlacement& placement) {
  const Algorithm* algorithm = find_algorithm(key.collective, key.algorithm);
  return algorithm == nullptr || algorithm->unsupported == nullptr
             ? std::nullopt
             : algorithm->unsupported(request_for(key.collective, key.ranks, placement));
}

/// As far as that is not the algorithm's affair.
std::optional<std::string> backend_unsupported(const PointKey& key, const RegisteredBackend& backend) {
  std::optional<std::string> reason = backend.unsupported ? backend.unsupported(key) : std::nullopt;
  if (!reason && key.algorithm == kNative) {
    reason = backend.native_unsupported ? backend.native_unsupported(key)
                                        : fmt::format("the {} backend has no {} of its own",
                                                      name(backend.backend), name(key.collective));
  }
  return reason || backend.on_gpus ? reason : unsupported_on_cpu(key.dtype);
}

}  // namespace

#if !RINGSIDE_HAS_GLOO
RegisteredBackend gloo_backend() {
  return {.backend = Backend::gloo, .unavailable = [] {
            return std::optional<std::string>(
                "this build has no gloo backend; install Gloo (Debian: libgloo-dev) and build again");
          }};
}
#endif

std::span<const RegisteredBackend> all_backends() {
  static const std::array kBackends = {gloo_backend(), nccl_backend(), shm_backend(), mpi_backend(),
                                       threads_backend()};
  return kBackends;
}

Backend resolve(Backend backend) {
  return backend == Backend::automatic ? all_backends().front().backend : backend;
}

const RegisteredBackend& registered(Backend backend) {
  const std::span<const RegisteredBackend> all = all_backends();
  const auto found = std::ranges::find(all, resolve(backend), &RegisteredBackend::backend);
  RINGSIDE_CHECK(found != all.end(), "every backend has its row");
  return *found;
}

BackendChoice choose_backend(int num_ranks, int ranks_per_gpu, bool here) {
  BackendChoice choice = {.backend = resolve(Backend::automatic)};
  for (const RegisteredBackend& row : all_backends()) {
    if (!row.on_gpus) {
      choice.backend = here && row.reduces_on_arrival ? row.backend : choice.backend;
      continue;
    }
    std::optional<std::string> reason = row.unavailable();
    if (!reason) {
      reason = too_few_gpus(static_cast<int>(gpu_machine().gpus.size()), num_ranks, ranks_per_gpu);
    }
    if (!reason) {
      return {.backend = row.backend};
    }
    choice.instead_of = row.backend;
    choice.why_not = *reason;
  }
  return choice;
}

std::optional<std::string> unsupported(const PointKey& key, Backend backend, const RankPlacement& placement) {
  if (key.ranks < 1 || key.bytes.value < 0) {
    throw bad_input(
        "a point needs at least one rank and no negative size, not {} "
        "ranks and {} bytes",
        key.ranks, key.bytes.value);
  }
  require_known_algorithm(key);
  std::optional<std::string> reason = algorithm_unsupported(key, placement);
  if (!reason) {
    reason = backend_unsupported(key, registered(backend));
  }
  if (!reason && key.bytes.value % static_cast<std::int64_t>(size_of(key.dtype)) != 0) {
    reason = fmt::format("{} bytes are no whole number of {} elements", key.bytes.value, name(key.dtype));
  }
  return reason;
}

std::optional<std::string> unequal_parts(std::string_view library, const PointKey& key) {
  const std::int64_t num_elements = key.bytes.value / static_cast<std::int64_t>(size_of(key.dtype));
  if (num_elements % key.ranks == 0) {
    return std::nullopt;
  }
  return fmt::format("{}'s {} needs parts of equal size, and {} ranks do not divide {} elements", library,
                     name(key.collective), key.ranks, num_elements);
}

RankBackend join_ranks(const RankPlace& place) {
  const RegisteredBackend& backend = registered(place.backend);
  if (backend.join == nullptr) {
    throw Error(ErrorKind::environment,
                backend.unavailable().value_or("ranks of this backend are no processes"));
  }
  return backend.join(place);
}

}  // namespace ringside
