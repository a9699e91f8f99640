#pragma once

#include "common/point_key.hpp"

namespace ringside {

/// What all ranks of a point allocate together: messages, scratch buffers, and room for what arrives.
Bytes memory_of_point(const PointKey& key);

/// Throws Error{environment} when these are more ranks than one machine should start.
void require_ranks(int num_ranks);

/// Throws Error{environment} with both numbers when a point's ranks, all on this machine, need more memory than it has,
/// or when they are too many.
void require_memory(const PointKey& key, Bytes available);

}  // namespace ringside
