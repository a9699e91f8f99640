#pragma once

#include <memory>

#include <gloo/transport/tcp/device.h>

namespace ringside {

/// Gloo's TCP device, whose pairs of ranks connect only to each other. A pair of Gloo's own takes the first
/// connection that comes to its port; here whoever connects must first say a secret that stands beside the
/// port's address in the store of the rendezvous, and strangers are hung up on for as long as the other rank
/// has not come. Once connected, a pair is Gloo's own. Throws Gloo's exceptions.
std::shared_ptr<::gloo::transport::Device> make_guarded_device(
    const ::gloo::transport::tcp::attr& attributes);

}  // namespace ringside
