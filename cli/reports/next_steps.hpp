#pragma once

#include <string>
#include <vector>

#include "results/codec/record.hpp"
#include "study/predicted.hpp"

namespace ringside::cli {

/// What to try next, from what was found: a sentence a line, and indented below it the command to type, where
/// there is one. `header` says what was typed; `ended`: whether the run got to its end. `general`: where only
/// predictions were found and none of this applies, how to measure; who typed the command knows it.
std::vector<std::string> next_steps(const study::PointStudy& study, const RunHeader& header, bool ended,
                                    bool general = false);

}  // namespace ringside::cli
