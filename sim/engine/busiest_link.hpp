#pragma once

#include <optional>

#include "common/units.hpp"
#include "results/limit.hpp"
#include "schedule/program/execution.hpp"
#include "sim/topology/network.hpp"

namespace ringside {

/// The link that takes longest to carry what crosses it, however messages are ordered.
struct BusiestLink {
  Seconds seconds;  ///< Bytes that cross it / its capacity: no run of the schedule takes less.
  Limit limit;      ///< Which link, and how many messages cross it; `flows` are not counted.
};

/// None where no messages share links, and beyond four million messages, which take seconds to count.
std::optional<BusiestLink> busiest_link(const Execution& execution, const Network& network);

}  // namespace ringside
