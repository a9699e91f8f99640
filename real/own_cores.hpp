#pragma once

#include <cstddef>
#include <span>

namespace ringside {

/// The `index`-th of `num_parts` parts of `cores`, next to each other and as even as can be; empty when there are
/// fewer cores than parts.
std::span<const std::size_t> part_of(std::span<const std::size_t> cores, int index, int num_parts);

/// Binds the calling thread, and those it will start, to its part of the cores that it may use; does nothing and returns
/// false when there are fewer cores than parts, or the system refuses. A rank that wanders between cores leaves its caches behind, and
/// the kernel likes to move the reader of a local socket to the core of its writer, where both then take turns.
bool keep_to_own_cores(int index, int num_parts);

}  // namespace ringside
