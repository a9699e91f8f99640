#pragma once

#include <set>
#include <string>

#include "plots/charts/charts.hpp"

namespace ringside::plots {

/// Keeps the first of several like parts; one node stands for the others, beside their links.
TopologyGraph first_of_parts(const TopologyGraph& graph);

/// What stands in the box of a node: its label and its detail.
std::string text_of(const TopologyNode& node);

/// Draws nodes of these levels as one where only a number differs: `GPU 0 to 71`.
TopologyGraph grouped(const TopologyGraph& graph, const std::set<int>& levels);

}  // namespace ringside::plots
