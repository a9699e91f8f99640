#pragma once

#include "scenario/machine/machine.hpp"

namespace ringside {

bool has_intervals(const Calibrated& calibrated);

/// The calibration as it would be if everything were at the fast or at the slow end of its interval. Measured
/// curves move by what their medians differed; where that is unknown, as α + β·bytes.
Calibrated end_of_intervals(Calibrated calibrated, bool fast);

}  // namespace ringside
