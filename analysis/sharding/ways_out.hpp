#pragma once

#include <string>

#include "analysis/plan/ranking.hpp"

/// What to do where a language model fits no offer as it was asked.
namespace ringside {

/// Plain data parallelism was asked for by default, and some offer has too little memory for it: layouts are worth a search.
bool wants_layouts(const Ranked& ranked);

/// The nearest changes that fit the memory of the offer that lacks least: another way to spread the model, a shorter sequence, more
/// nodes. A sentence; empty where no offer lacks memory.
std::string ways_out(const Ranked& ranked);

}  // namespace ringside
