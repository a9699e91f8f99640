#pragma once

#include <span>
#include <string>
#include <vector>

#include "results/point.hpp"

namespace ringside {

/// Whether the point was measured under another execution policy than it was predicted for; no where a side says none.
bool policies_differ(const Point& point);

/// One sentence, without a full stop, for every algorithm, number of ranks and pair of policies that differ, with the sizes
/// that it is about: such times do not tell how good a prediction was.
std::vector<std::string> policy_sentences(std::span<const Point> points);

}  // namespace ringside
