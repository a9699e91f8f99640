#include "real/measurement.hpp"

#include <algorithm>

#include "real/statistics.hpp"

namespace ringside {

Measurement with_pass(const Measurement& earlier, const Measurement& pass) {
  if (earlier.outcome != Outcome::ok) {
    return earlier;
  }
  if (pass.outcome != Outcome::ok) {
    return pass;
  }
  Measurement both = earlier;
  both.samples.insert(both.samples.end(), pass.samples.begin(), pass.samples.end());
  both.iterations = earlier.iterations + pass.iterations;
  if (both.passes.empty()) {
    both.passes.push_back(earlier.seconds.value);
  }
  both.passes.push_back(pass.seconds.value);
  const SampleSummary summary = summarize(both.samples);
  const auto [fastest, slowest] = std::minmax_element(both.passes.begin(), both.passes.end());
  both.seconds = {summary.median};
  both.low = {std::min(summary.low, *fastest)};
  both.high = {std::max(summary.high, *slowest)};
  both.min = {summary.min};
  both.p95 = {summary.p95};
  return both;
}

}  // namespace ringside
