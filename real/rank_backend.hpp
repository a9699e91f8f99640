#pragma once

#include <functional>
#include <memory>
#include <span>

#include "real/collective_values.hpp"
#include "real/progress.hpp"
#include "real/transport.hpp"

namespace ringside {

/// A collective of the backend's own library, ready to run on the memory for which it was made.
using NativeCall = std::function<void()>;

/// What a backend gives to one rank.
struct RankBackend {
  Backend backend = Backend::gloo;
  std::unique_ptr<Transport> transport;
  /// Makes the library's own collective, in place on `message`. Called by all ranks at once.
  std::function<NativeCall(const CollectiveCall& call, std::span<std::byte> message)> make_native;
  Progress* progress = nullptr;  ///< May be null.
};

}  // namespace ringside
