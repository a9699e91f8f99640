#pragma once

#include <string>
#include <vector>

#include "lab/evaluation/evaluation.hpp"

namespace ringside {

/// Measurements that are faster than the bytes could cross the links which the machine describes, a sentence each: a column that was
/// read as another one, or a machine that is not described as it is. Every rank (every node, of several) has to receive the
/// message or what it lacks of it, at the data sheet's rate, whatever the algorithm.
std::vector<std::string> impossible_times(const EvaluationSystem& system);

}  // namespace ringside
