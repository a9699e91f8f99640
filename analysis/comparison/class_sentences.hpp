#pragma once

#include <span>
#include <string>
#include <vector>

#include "results/point.hpp"

namespace ringside {

/// For the largest message on the most ranks: algorithms simulated by classes of ranks, or that should have
/// been: `ring: 65,536 ranks in 8 classes of those that do the same at the same time; the busiest link: …`.
std::vector<std::string> class_sentences(std::span<const Point> points);

}  // namespace ringside
