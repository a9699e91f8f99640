#pragma once

#include "real/coordination.hpp"

namespace ringside {

/// Where more ranks may run on the same cores than there are: lets all threads of this process wait for their turn when they
/// wake, instead of interrupting those at work (SCHED_BATCH). Otherwise every message that arrives stops the rank on
/// whose core its receiver wakes, which is often the one for which all others wait. Returns whether this rank's cores
/// are so; where the system refuses, that is all it does. Called by all ranks at once.
bool take_turns_on_shared_cores(Coordination& coordination);

}  // namespace ringside
