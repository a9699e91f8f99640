#pragma once

#include <cstdint>

#include "common/names.hpp"
#include "common/units.hpp"

namespace ringside {

/// Gloo's own all_reduce is a pipelined ring. Each rank has two segments in flight: it starts the next one before it waits for
/// the one before.
inline constexpr int kGlooRingInFlight = 2;
/// Into how many segments it cuts each rank's part of the message.
int gloo_ring_segments(Bytes size, DataType dtype, int num_ranks);

}  // namespace ringside
