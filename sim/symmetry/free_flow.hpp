#pragma once

#include <optional>
#include <vector>

#include "common/units.hpp"
#include "schedule/program/execution.hpp"
#include "sim/sharing/link_use.hpp"
#include "sim/topology/network.hpp"

namespace ringside {

/// Which links carry flows, by link, where no flow of the execution can ever hold another back: replay() is
/// its simulation with contention then, exactly. None where flows may.
///
/// A rank does one round after another. What it sends over a link at one time is therefore at most what it
/// sends in its busiest round, each flow at the rate that it has alone; the same holds for what it receives.
/// Flows are free where these rates, summed over all senders or over all receivers of a link, fit into its
/// capacity, for every link: max-min shares then give each its own rate.
///
/// None is no proof of the contrary: several rounds of a rank in flight, chunks without elements, ranks that
/// share processors, and executions with too many different rounds are not looked at. Takes time in the moves
/// of rounds that are no images of others.
std::optional<std::vector<LinkUse>> links_of_free_flow(const Execution& execution, const Network& network);

/// replay() of an execution all of whose rounds send around circles of ranks, and repeat, such as those of
/// `ring` and `hierarchical`. Ranks are put in the order of their circles, and what each sends moves on by
/// one place from round to round (RepeatedRounds), so
/// that a round is a few loops over arrays: some thirty times faster.
///
/// None where some round is not like that: then replay() is what there is.
std::optional<Seconds> replay_circles(const Execution& execution, const Network& network);

}  // namespace ringside
