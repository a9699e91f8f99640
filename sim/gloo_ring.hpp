#pragma once

#include <cstdint>

#include "common/names.hpp"
#include "common/units.hpp"

namespace ringside {

/// Into how many segments Gloo's own all_reduce cuts each rank's part of the message: the slices of the
/// pipelined ring that it is.
/// Each rank has two segments under way: it starts the next two before it waits for the one before.
constexpr int kGlooRingRoundsAtOnce = 2;
int gloo_ring_slices(Bytes size, DataType dtype, int num_ranks);

}  // namespace ringside
