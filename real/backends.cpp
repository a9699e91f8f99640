#include "real/backends.hpp"

#include <fmt/format.h>

#include "common/error.hpp"
#include "real/gpus.hpp"
#include "real/nccl/nccl_native_support.hpp"
#include "real/reduce.hpp"
#include "schedule/registry.hpp"
#if RINGSIDE_HAS_GLOO
#include "real/gloo/gloo_backend.hpp"
#endif
#if RINGSIDE_HAS_NCCL
#include "real/nccl/nccl_backend.hpp"
#endif

namespace ringside {
namespace {

std::optional<std::string> native_unsupported(const PointKey& key, Backend backend) {
#if RINGSIDE_HAS_GLOO
  if (backend == Backend::gloo) {
    return gloo_native_unsupported(key);
  }
#endif
  if (backend == Backend::nccl) {
    return nccl_native_unsupported(key);
  }
  return fmt::format("the {} backend has no {} of its own", name(backend), name(key.collective));
}

std::optional<std::string> algorithm_unsupported(const PointKey& key, const RankPlacement& placement) {
  const Algorithm* algorithm = find_algorithm(key.collective, key.algorithm);
  if (algorithm == nullptr) {
    std::vector<std::string> known = algorithm_names(key.collective);
    known.emplace_back(kNative);
    throw Error(ErrorKind::bad_input,
                unknown_name(fmt::format("{} algorithm", name(key.collective)), key.algorithm, known));
  }
  return algorithm->unsupported == nullptr
             ? std::nullopt
             : algorithm->unsupported(request_for(key.collective, key.ranks, placement));
}

}  // namespace

Backend resolve(Backend backend) { return backend == Backend::automatic ? Backend::gloo : backend; }

std::optional<std::string> unavailable(Backend backend) {
  switch (resolve(backend)) {
    case Backend::threads:
      return std::nullopt;
    case Backend::gloo:
#if RINGSIDE_HAS_GLOO
      return std::nullopt;
#else
      return "this build has no gloo backend; install Gloo (Debian: libgloo-dev) and build again";
#endif
    case Backend::nccl:
      return missing_for_nccl(gpu_machine());
    case Backend::mpi:
      return "no ranks talk through MPI yet; those that mpirun starts talk through gloo or nccl "
             "(--rendezvous)";
    case Backend::automatic:
      break;
  }
  throw_bug("a backend that was chosen", __FILE__, __LINE__, "`auto` is not resolved");
}

std::optional<std::string> unsupported(const PointKey& key, Backend backend, const RankPlacement& placement) {
  backend = resolve(backend);
  if (key.ranks < 1 || key.bytes.value < 0) {
    throw Error(ErrorKind::bad_input,
                fmt::format("a point needs at least one rank and no negative size, not {} "
                            "ranks and {} bytes",
                            key.ranks, key.bytes.value));
  }
  std::optional<std::string> reason =
      key.algorithm == kNative ? native_unsupported(key, backend) : algorithm_unsupported(key, placement);
  if (!reason && backend != Backend::nccl) {
    reason = unsupported_on_cpu(key.dtype);
  }
  if (!reason && key.bytes.value % static_cast<std::int64_t>(size_of(key.dtype)) != 0) {
    reason = fmt::format("{} bytes are no whole number of {} elements", key.bytes.value, name(key.dtype));
  }
  return reason;
}

RankBackend join_ranks(const RankPlace& place) {
#if RINGSIDE_HAS_NCCL
  if (place.backend == Backend::nccl) {
    return join_nccl(place);
  }
#endif
#if RINGSIDE_HAS_GLOO
  if (resolve(place.backend) == Backend::gloo) {
    return join_gloo(place);
  }
#endif
  throw Error(ErrorKind::environment,
              unavailable(place.backend).value_or("ranks of this backend are no processes"));
}

}  // namespace ringside
