#pragma once

#include <optional>

#include "common/units.hpp"
#include "schedule/program/execution.hpp"
#include "sim/topology/network.hpp"

namespace ringside {

/// replay() of an execution all of whose rounds send around circles of ranks, and repeat, such as those of
/// `ring` and `hierarchical`. Ranks are put in the order of their circles, and what each sends moves on by
/// one place from round to round (RepeatedRounds), so
/// that a round is a few loops over arrays: some thirty times faster.
///
/// None where some round is not like that: then replay() is what there is.
std::optional<Seconds> replay_circles(const Execution& execution, const Network& network);

}  // namespace ringside
