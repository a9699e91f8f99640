#pragma once

#include "real/coordination.hpp"

namespace ringside {

/// Lets all threads of this process take turns (thread_order.hpp) where more ranks may run on the same cores than there
/// are. Otherwise every message that arrives stops the rank on whose core its receiver wakes, which is often the one
/// for which all others wait. Returns whether this rank's cores are so, and does no more where the system refuses.
/// Called by all ranks at once.
bool take_turns_on_shared_cores(Coordination& coordination);

}  // namespace ringside
