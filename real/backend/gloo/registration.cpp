#include <fmt/format.h>

#include "real/backend/backends.hpp"
#include "real/execute/reduce.hpp"
#include "schedule/registry.hpp"
#if RINGSIDE_HAS_GLOO
#include "real/backend/gloo/backend.hpp"
#include "real/backend/gloo/parts.hpp"
#endif

namespace ringside {
namespace {

#if RINGSIDE_HAS_GLOO

std::optional<std::string> unavailable_here() { return std::nullopt; }

std::optional<std::string> unsupported_natively(const PointKey& key) { return gloo_native_unsupported(key); }

std::string describe() { return fmt::format("CPU ranks over TCP, Gloo {}", gloo_version()); }

std::string library_version() { return gloo_version(); }

constexpr auto* kJoin = &join_gloo;

#else

std::optional<std::string> unavailable_here() {
  return "this build has no gloo backend; install Gloo (Debian: libgloo-dev) and build again";
}

std::optional<std::string> unsupported_natively(const PointKey& key) {
  return fmt::format("the gloo backend has no {} of its own", name(key.collective));
}

std::string describe() { return {}; }

std::string library_version() { return {}; }

constexpr RankBackend (*kJoin)(const RankPlace&) = nullptr;

#endif

std::optional<std::string> unsupported_here(const PointKey& key) {
  std::optional<std::string> reason = key.algorithm == kNative ? unsupported_natively(key) : std::nullopt;
  return reason ? reason : unsupported_on_cpu(key.dtype);
}

}  // namespace

RegisteredBackend gloo_backend() {
  return {.backend = Backend::gloo,
          .unavailable = unavailable_here,
          .unsupported = unsupported_here,
          .join = kJoin,
          .describe = describe,
          .library_version = library_version};
}

}  // namespace ringside
