#pragma once

#include <string>

#include "analysis/plan/ranking.hpp"

/// What to do where a language model fits no offer as it was asked.
namespace ringside {

/// Plain data parallelism is the default and too large for some offer: layouts are searched.
bool wants_layouts(const Ranked& ranked);

/// The nearest changes that fit the memory of the offer that lacks least: another way to spread the model, a
/// shorter sequence, more nodes. A sentence; empty where no offer lacks memory.
std::string ways_out(const Ranked& ranked);

}  // namespace ringside
