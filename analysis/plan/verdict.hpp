#pragma once

#include <string>
#include <vector>

#include "analysis/plan/ranking.hpp"

/// What a ranking means, in whole sentences.
namespace ringside {

/// Why nothing is recommended; empty where something is, or for gradients alone with a usable offer.
std::string why_none(const Ranked& ranked);

/// What to try next: which measurement would break a tie. None where there is no tie.
std::vector<std::string> next_steps(const Ranked& ranked);

/// What to rent and why, or what cannot be told apart; how sure that is, and what was not compared. A line
/// each; of a model that is spread none where nothing is recommended.
std::vector<std::string> verdict(const Ranked& ranked);

}  // namespace ringside
