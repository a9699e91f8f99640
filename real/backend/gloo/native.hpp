#pragma once

#include <memory>

#include <gloo/context.h>

#include "real/execute/rank_backend.hpp"

namespace ringside {

/// Gloo's own collective, in place on `message`, as a call without arguments. gloo_native_unsupported() must have said
/// nothing of it.
NativeCall make_gloo_native(const std::shared_ptr<::gloo::Context>& context, Rank rank,
                            const CollectiveCall& call, std::span<std::byte> message);

}  // namespace ringside
