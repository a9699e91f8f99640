#pragma once

#include <span>
#include <string>
#include <vector>

#include "results/point.hpp"

namespace ringside {

/// Whether prediction and measurement have different execution policies; no where a side says none.
bool policies_differ(const Point& point);

/// `predicted for whole chunks …, but measured with …`, where the two differ.
std::string policy_difference(const ExecutionPolicy& predicted, const ExecutionPolicy& measured);

/// One sentence, without a full stop, for every algorithm, number of ranks and pair of policies that differ,
/// with the sizes that it is about: such times do not tell how good a prediction was.
std::vector<std::string> policy_sentences(std::span<const Point> points);

}  // namespace ringside
