#include "results/measurement.hpp"

#include <algorithm>

#include "common/numbers.hpp"

namespace ringside {

Measurement with_repetition(const Measurement& earlier, const Measurement& repetition) {
  if (earlier.outcome != Outcome::ok) {
    return earlier;
  }
  if (repetition.outcome != Outcome::ok) {
    return repetition;
  }
  Measurement both = earlier;
  both.samples.insert(both.samples.end(), repetition.samples.begin(), repetition.samples.end());
  both.iterations = earlier.iterations + repetition.iterations;
  if (both.repetitions.empty()) {
    both.repetitions.push_back(earlier.seconds.value);
  }
  both.repetitions.push_back(repetition.seconds.value);
  const SampleSummary summary = summarize(both.samples);
  const auto [fastest, slowest] = std::minmax_element(both.repetitions.begin(), both.repetitions.end());
  both.seconds = {summary.median};
  both.low = {std::min(summary.low, *fastest)};
  both.high = {std::max(summary.high, *slowest)};
  both.min = {summary.min};
  both.p95 = {summary.p95};
  return both;
}

}  // namespace ringside
