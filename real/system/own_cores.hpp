#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ringside {

/// On which the calling thread may run, ascending.
std::vector<std::size_t> allowed_cores();

/// The `index`-th of `num_parts` parts of `cores`, next to each other and as even as can be; empty when there are
/// fewer cores than parts.
std::span<const std::size_t> part_of(std::span<const std::size_t> cores, int index, int num_parts);

/// Binds the calling thread, and those it will start, to cores of its part of those that it may use, and returns them: a
/// core for the thread that reduces and, where there is one, a core for the one that moves messages. Does nothing and
/// returns none when there are fewer cores than parts (a container may be granted less time than it sees cores), or the
/// system refuses. A rank that wanders between cores leaves its caches behind, and the kernel likes to move the reader of
/// a local socket to the core of its writer, where each then waits for the other.
std::vector<std::size_t> keep_to_own_cores(int index, int num_parts);

}  // namespace ringside
