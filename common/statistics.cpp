#include "common/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "common/error.hpp"

namespace ringside {
namespace {

/// How many samples may be cut off at either end so that what is left still covers the median with 95 %: the
/// largest j with 2·P(X < j) <= 5 % for X ~ Binomial(n, 1/2). Source: W. J. Conover, "Practical nonparametric
/// statistics", 3rd edition, section 3.2 (confidence interval of a quantile).
std::size_t samples_to_cut(std::size_t n) {
  const auto size = static_cast<double>(n);
  double log_probability =
      size * std::log(0.5);  // Probability of X = j; in logarithms because (1/2)^n is soon no number.
  double below = 0;          // P(X < j + 1)
  std::size_t j = 0;
  while (j < n / 2) {
    below += std::exp(log_probability);
    if (2 * below > 0.05) {
      break;
    }
    const auto k = static_cast<double>(j);
    log_probability += std::log((size - k) / (k + 1));
    ++j;
  }
  return j;
}

}  // namespace

SampleSummary summarize(std::span<const double> samples) {
  RINGSIDE_CHECK(!samples.empty(), "there is no median of nothing");
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t n = sorted.size();
  // The interval between the j-th smallest and the j-th largest sample (from 1); j = 0 has no interval.
  const std::size_t j = std::max<std::size_t>(samples_to_cut(n), 1);
  const auto rank_of_p95 = static_cast<std::size_t>(std::ceil(0.95 * static_cast<double>(n)));
  return {.median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2,
          .low = sorted[j - 1],
          .high = sorted[n - j],
          .min = sorted.front(),
          .p95 = sorted[rank_of_p95 - 1]};
}

}  // namespace ringside
