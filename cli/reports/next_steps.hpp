#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "study/predicted.hpp"

namespace ringside::cli {

/// What to try next, from what was found: a sentence a line, and indented below it the command to type, where
/// there is one. `ended`: whether the run got to its end. `general`: where only predictions were found and
/// none of this applies, how to measure; who typed the command knows it.
std::vector<std::string> next_steps(const study::PointStudy& study, std::string_view typed, bool ended,
                                    bool general = false);

}  // namespace ringside::cli
