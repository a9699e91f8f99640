#pragma once

#include <span>
#include <string>
#include <vector>

#include "results/prediction.hpp"

namespace ringside {

/// How a predicted algorithm uses NICs.
struct AlgorithmNics {
  std::string algorithm;
  NicUse nics;
};

/// Which algorithms leave NICs of a node idle, and that `native`, where it is among them, does not:
/// `ring uses 1 of the 4 NICs of a node`. One sentence, without a full stop, for all algorithms that use as
/// many. An algorithm that uses more in some predictions than in others `uses 1 to 2`.
std::vector<std::string> nic_sentences(std::span<const AlgorithmNics> predicted);

}  // namespace ringside
