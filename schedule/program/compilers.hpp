#pragma once

#include "schedule/program/execution.hpp"
#include "schedule/program/program.hpp"

namespace ringside {

/// Both write the steps of `program.rank` and set the size of the staging buffer.
///
/// Whole chunks: a rank starts a round's transfers when those of the round before are over.
void compile_rounds(const Execution& execution, Program& program);
/// Segments in flight: several rounds of a rank are in flight at once.
void compile_segments(const Execution& execution, Program& program);

}  // namespace ringside
