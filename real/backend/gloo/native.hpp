#pragma once

#include <memory>
#include <optional>
#include <string>

#include <gloo/context.h>

#include "real/execute/rank_backend.hpp"
#include "results/point.hpp"

namespace ringside {

/// Why Gloo has no collective of its own for this point.
std::optional<std::string> gloo_native_unsupported(const PointKey& key);

/// Gloo's own collective, in place on `message`, as a call without arguments. gloo_native_unsupported() must
/// have said nothing of it.
NativeCall make_gloo_native(const std::shared_ptr<::gloo::Context>& context, Rank rank,
                            const CollectiveCall& call, std::span<std::byte> message);

}  // namespace ringside
