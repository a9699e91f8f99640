#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results/point.hpp"
#include "scenario/machine/machine.hpp"

namespace ringside {

/// How far off predictions of NCCL's own collectives are on published machines like this one, none of which
/// was in the fit; empty where the points have no such prediction from a description alone.
std::string held_out_sentence(const std::vector<Point>& points, const Machine& machine);

/// configs/nccl/held_out_errors.jsonl as it was when the program was built.
extern const std::string_view kHeldOutErrors;

}  // namespace ringside
