#pragma once

#include "real/execute/coordination.hpp"

namespace ringside {

/// Turns to batch scheduling (thread_order.hpp) where more ranks may run on the same cores than there are. Otherwise every
/// message that arrives stops the rank on whose core its receiver wakes, which is often the one for which all others
/// wait. Returns whether that was done here. Called by all ranks at once.
bool use_batch_scheduling_on_shared_cores(Coordination& coordination);

}  // namespace ringside
