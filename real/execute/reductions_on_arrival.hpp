#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "schedule/program/program.hpp"

namespace ringside {

inline constexpr std::int32_t kNotOnArrival = -1;

/// By step: of a receive, the reduction that may be made while its message arrives, when it is waited for,
/// instead of later from the staging buffer; kNotOnArrival for all others.
///
/// A reduction may come so early where no step in between touches its target, no send of the target is under
/// way, and no waits form a circle: such a message leaves its sender only when the receiver waits for it, so
/// the receiver must not first wait for sends of that round. `leaves_at_once(source)`: a send without a wait.
std::vector<std::int32_t> reductions_on_arrival(const Program& program,
                                                const std::function<bool(const Region&)>& leaves_at_once);

}  // namespace ringside
