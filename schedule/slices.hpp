#pragma once

#include <cstdint>

#include "common/units.hpp"
#include "schedule/schedule.hpp"

/// Long messages of a ring in slices, as Gloo's and NCCL's own rings send them. A slice is reduced as soon as it has
/// arrived and sent on while it is still in the cache; other slices are on their way meanwhile.
namespace ringside {

/// Whether every rank has a core to itself.
enum class Cores { own, shared };

/// Into what slices ranks of one machine, on such cores, cut each chunk of a message of `size` bytes. Messages must be
/// long, and every rank must send one message to one and the same peer in every round: the links are then busy all the
/// time, with slices and without, and what slices save is memory traffic and waiting. (`naive` in slices would be
/// another algorithm, whose broadcast begins before its sum is complete.)
Slicing slicing_of(const Schedule& schedule, Bytes size, Cores cores);

}  // namespace ringside
