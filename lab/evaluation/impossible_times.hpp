#pragma once

#include <string>
#include <vector>

#include "lab/evaluation/evaluation.hpp"

namespace ringside {

/// Measurements faster than bytes cross the described links, a sentence each: a column misread, or a machine
/// misdescribed. Every rank (every node, of several) has to receive the
/// message or what it lacks of it, at the data sheet's rate, whatever the algorithm.
std::vector<std::string> impossible_times(const EvaluationSystem& system);

}  // namespace ringside
