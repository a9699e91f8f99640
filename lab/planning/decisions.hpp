#pragma once

#include <string>
#include <vector>

/// Whether plans choose the cheaper of two machines, at random prices.
namespace ringside {

/// Seconds of one GPU for one sample of the same work on one machine.
struct Candidate {
  std::string work;     ///< Candidates of the same work are compared: model, its form, and the source.
  std::string machine;  ///< Its GPU.
  double planned = 1;
  double published = 1;
  double by_sheet = 1;  ///< Their relation is that of the data sheets' rates: what any fixed MFU says.
};

/// How well one way foretells which is cheaper.
struct DecisionScore {
  double right = 0;     ///< Share of decisions that chose the cheaper machine.
  double regret = 0;    ///< What the chosen costs beyond the cheaper, mean of all decisions.
  double relation = 1;  ///< Foretold over published relation of two machines, as a factor, median.
};

struct DecisionScores {
  std::size_t pairs = 0;
  DecisionScore planned;
  DecisionScore by_sheet;
};

/// All pairs of the same work on two kinds of GPU. Prices of a unit of a data sheet's rate differ by up to
/// two, every relation between alike likely in logarithms.
DecisionScores decision_scores_of(const std::vector<Candidate>& candidates);

}  // namespace ringside
