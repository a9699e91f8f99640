#include "lab/planning/decisions.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "lab/planning/published_speeds.hpp"

namespace ringside {
namespace {

/// Adds up decisions between two machines whose relation is foretold.
class Decisions {
 public:
  /// Logarithms of relations, over the relation of data sheets: as foretold, and as published.
  void add(double foretold, double published) {
    // A choice is wrong at prices between both relations: the integral over them is of exp(distance) - 1.
    const double from = std::clamp(published, -std::log(kDearest), std::log(kDearest));
    const double to = std::clamp(foretold, -std::log(kDearest), std::log(kDearest));
    const double wrong = std::abs(to - from);
    const double beyond = std::abs(published - from);
    const double all = 2 * std::log(kDearest);
    wrong_ += wrong / all;
    lost_ += (std::exp(beyond) * std::expm1(wrong) - wrong) / all;
    factors_.push_back(std::exp(std::abs(foretold - published)));
  }
  DecisionScore score() const {
    const auto pairs = static_cast<double>(factors_.size());
    return {.right = 1 - wrong_ / pairs, .regret = lost_ / pairs, .relation = at_share(factors_, 0.5)};
  }

 private:
  static constexpr double kDearest = 2;

  double wrong_ = 0;
  double lost_ = 0;
  std::vector<double> factors_;
};

}  // namespace

DecisionScores decision_scores_of(const std::vector<Candidate>& candidates) {
  DecisionScores scores;
  Decisions planned;
  Decisions by_sheet;
  for (std::size_t a = 0; a < candidates.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const Candidate& one = candidates[a];
      const Candidate& other = candidates[b];
      if (one.work != other.work || one.machine == other.machine) {
        continue;
      }
      const double sheet = std::log(one.by_sheet / other.by_sheet);
      const double published = std::log(one.published / other.published) - sheet;
      planned.add(std::log(one.planned / other.planned) - sheet, published);
      by_sheet.add(0, published);
      ++scores.pairs;
    }
  }
  if (scores.pairs > 0) {
    scores.planned = planned.score();
    scores.by_sheet = by_sheet.score();
  }
  return scores;
}

}  // namespace ringside
