#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ringside {

/// On which the calling thread may run, ascending.
std::vector<std::size_t> allowed_cores();

/// The `index`-th of `num_parts` parts of `cores`, next to each other and as even as can be; empty when there
/// are fewer cores than parts.
std::span<const std::size_t> part_of(std::span<const std::size_t> cores, int index, int num_parts);

/// Binds the calling thread, and those it starts, to its part of the allowed cores, and returns them: one to
/// reduce and, if there is one, one to move messages. Returns none where there are fewer cores than parts
/// (containers may have less time than cores) or the system refuses. A rank that wanders between cores leaves
/// its caches behind, and the kernel likes to move the reader of
/// a local socket to the core of its writer, where each then waits for the other.
std::vector<std::size_t> keep_to_own_cores(int index, int num_parts);

}  // namespace ringside
