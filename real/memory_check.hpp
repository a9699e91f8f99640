#pragma once

#include <span>

#include "common/point_key.hpp"
#include "real/gpus.hpp"

namespace ringside {

/// What all ranks of a point allocate together: messages, scratch buffers, and room for what arrives.
Bytes memory_of_point(const PointKey& key);

/// Throws Error{environment} when these are more ranks than one machine should start.
void require_ranks(int num_ranks);
/// What one rank of a point allocates.
Bytes memory_of_rank(const PointKey& key, Rank rank);

/// Throws Error{environment} with both numbers when a point's ranks, all on this machine, need more memory than it has,
/// or when they are too many.
void require_memory(const PointKey& key, Bytes available);

/// The same for ranks on GPUs, and when there are fewer GPUs than they need. A GPU whose free memory is not known counts
/// with all it has.
void require_gpu_memory(const PointKey& key, int ranks_per_gpu, std::span<const GpuFacts> gpus);

}  // namespace ringside
