#pragma once

#include "real/program.hpp"
#include "schedule/schedule.hpp"

/// Long messages of a ring in slices, as Gloo's and NCCL's own rings send them. A slice is reduced as soon as it has
/// arrived and sent on while it is still in the cache; other slices are on their way meanwhile.
namespace ringside {

/// Whether messages are long, and every rank sends one message to one and the same peer in every round: the links are
/// busy all the time, with slices and without, so that their time is the schedule's in either case. (`naive` in slices
/// would be another algorithm, whose broadcast begins before its sum is complete.)
bool gains_from_slices(const Schedule& schedule, const Vector& vector);

/// Compiles all rounds at program.rank. Only where gains_from_slices().
void add_rounds_in_slices(const Schedule& schedule, const Vector& vector, Program& program);

}  // namespace ringside
