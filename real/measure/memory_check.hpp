#pragma once

#include <span>

#include "real/backend/gpus.hpp"
#include "real/launch/launch_options.hpp"
#include "results/point.hpp"

namespace ringside {

/// What all ranks of a point allocate together: messages, scratch buffers, and room for what arrives. Of more
/// than 64 ranks some stand for the others.
Bytes memory_of_point(const PointKey& key);

/// Throws Error{environment} when a point needs more memory, ranks or GPUs than this machine has. measure()
/// asks this before it starts any rank; whoever has other work to do first asks earlier.
void require_points(std::span<const PointKey> points, const LaunchOptions& options);

/// What one rank of a point allocates.
Bytes memory_of_rank(const PointKey& key, Rank rank);

/// Throws Error{environment} with both numbers when a point's ranks, all on this machine, need more memory
/// than it has, or when they are too many.
void require_memory(const PointKey& key, Bytes available);

/// The same for ranks on GPUs, and when there are fewer GPUs than they need. A GPU whose free memory is not
/// known counts with all it has.
void require_gpu_memory(const PointKey& key, int ranks_per_gpu, std::span<const GpuFacts> gpus);

}  // namespace ringside
