#pragma once

#include <span>
#include <string>
#include <vector>

/// Runs on two nodes each, as operators make them over a fleet: which node or pair is slow beside the others?
namespace ringside {

struct PairRun {
  std::string first = {};
  std::string second = {};
  double ratio = 1;  ///< Measured over predicted time.
};

struct PairOutliers {
  struct Node {
    std::string name = {};
    int pairs = 0;        ///< It was seen in.
    double slowdown = 1;  ///< Median of its pairs over that of the pairs without a slow node.
  };
  struct Pair {
    PairRun run = {};
    double slowdown = 1;  ///< Likewise.
  };
  std::vector<Node> nodes = {};  ///< Slowest first.
  std::vector<Pair> pairs = {};  ///< Without a slow node in them; slowest first.
};

/// Logarithms of the ratios of healthy pairs are Gaussian about their median, with the deviation of the
/// median distance, at least that of a repeated measurement (0.03). A node is slow where each of its pairs is
/// among the slowest 5 %, and chance does that to no node in 19 fleets of 20. A pair of healthy nodes is slow
/// where chance does that to none of the pairs in 19 fleets of 20. Slow nodes are taken out before
/// the others are judged. `runs` names each pair once; fewer than three healthy pairs tell nothing.
PairOutliers pair_outliers(std::span<const PairRun> runs);

}  // namespace ringside
