#pragma once

#include <span>
#include <string>
#include <vector>

#include "results/codec/record.hpp"

namespace ringside {

/// Two algorithms that are compared with each other.
struct AlgorithmPair {
  std::string baseline;
  std::string candidate;
};

/// One record for each number of ranks above 1 at which both algorithms have a time at some size, ascending.
///
/// Time over size is taken as straight between neighbouring sizes in a doubly logarithmic plot. A size at
/// which both take exactly as long is a crossing only if the other one wins on its other side. Only sizes at
/// which both have a time (measured: outcome ok) count, each side for itself.
std::vector<Crossover> crossovers(std::span<const Point> points, const AlgorithmPair& pair);

}  // namespace ringside
