#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/crossover.hpp"
#include "results/record.hpp"

namespace ringside {

/// What is held against what. Baseline: `naive`, else the algorithm of the first point. Candidate: `ring`, else the fastest
/// other at the largest size on most ranks (measured where it was, else predicted). `native` is neither. None with fewer
/// than two algorithms of our own.
std::optional<AlgorithmPair> choose_pair(std::span<const Point> points);

/// One record for each cell (ranks above 1, size) of which there is something to say, by ranks, then size. A speedup needs
/// both times; a winner is the fastest of at least two that have a time.
std::vector<Verdict> verdicts(std::span<const Point> points, const AlgorithmPair& pair);

}  // namespace ringside
