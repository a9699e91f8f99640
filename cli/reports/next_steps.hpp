#pragma once

#include <string>
#include <vector>

#include "results/codec/record.hpp"
#include "study/predicted.hpp"

namespace ringside::cli {

/// What to try next, from what was found: a sentence a line, and indented below it the command to type, where
/// there is one. The most urgent first, four at most. `header` says what was typed, about which file, and on
/// how many cores; `ended`: whether the run got to its end.
std::vector<std::string> next_steps(const study::PointStudy& study, const RunHeader& header, bool ended);

/// What a report of predictions alone ends with; who typed the command knows it.
std::vector<std::string> first_measurement(const RunHeader& header);

}  // namespace ringside::cli
