#pragma once

#include <string>

#include "lab/evaluation/evaluation.hpp"

namespace ringside::lab {

/// What an evaluation says beside its accuracy records, as JSON Lines, each with a `record`: `evaluation`,
/// `evaluated_system`, `not_evaluated`, `nccl_fit` and `nccl_parameter`, and with `points` an
/// `evaluated_point` for each of ringside's. scripts/accuracy-page makes tables of them.
std::string evaluation_lines(const AccuracyReport& report, const NcclFit& fit, bool points);

}  // namespace ringside::lab
