#pragma once

#include <memory>
#include <optional>
#include <string>

#include <gloo/context.h>
#include <gloo/transport/tcp/device.h>

#include "real/execute/rank_backend.hpp"
#include "results/point.hpp"

namespace ringside {

/// Why Gloo has no collective of its own for this point.
std::optional<std::string> gloo_native_unsupported(const PointKey& key);

/// Gloo's own collective, in place on `message`, as a call without arguments. gloo_native_unsupported() must
/// have said nothing of it.
NativeCall make_gloo_native(const std::shared_ptr<::gloo::Context>& context, Rank rank,
                            const CollectiveCall& call, std::span<std::byte> message);

/// Gloo's TCP device, whose pairs of ranks connect only to each other. A pair of Gloo's own takes the first
/// connection that comes to its port; here whoever connects must first say a secret that stands beside the
/// port's address in the store of the rendezvous, and strangers are hung up on for as long as the other rank
/// has not come. Once connected, a pair is Gloo's own. Throws Gloo's exceptions.
std::shared_ptr<::gloo::transport::Device> make_guarded_device(
    const ::gloo::transport::tcp::attr& attributes);

}  // namespace ringside
