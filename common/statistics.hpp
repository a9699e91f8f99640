#pragma once

#include <span>

namespace ringside {

/// What is said of repeated timings. All values in seconds.
struct SampleSummary {
  double median = 0;
  double low =
      0;  ///< 95 % confidence interval of the median, from order statistics: no assumption on how times
  double high = 0;  ///< are distributed. With fewer than six samples none exists; then it is [min, max].
  double min = 0;
  double p95 = 0;

  double relative_width() const { return median > 0 ? (high - low) / median : 0; }
};

/// The fewest samples of which a 95 % interval of the median exists: 1 − 2·(1/2)^6 = 96.9 %.
inline constexpr int kMinSamplesOfInterval = 6;

SampleSummary summarize(std::span<const double> samples);

}  // namespace ringside
