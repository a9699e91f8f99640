#include "common/numbers.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include <fmt/format.h>

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

template <typename N>
std::optional<N> take_number(std::string_view& text) {
  N number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc{}) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

template std::optional<int> take_number(std::string_view&);
template std::optional<std::int64_t> take_number(std::string_view&);
template std::optional<double> take_number(std::string_view&);

std::string percent(double fraction, int decimals) {
  const bool small = decimals == 0 && 100 * fraction >= 0.05 && 100 * fraction < 0.95;
  return fmt::format("{:.{}f} %", 100 * fraction, small ? 1 : decimals);
}

std::string signed_percent(double fraction) { return fmt::format("{:+.0f} %", 100 * fraction); }

SampleSummary summarize(std::span<const double> samples) {
  RINGSIDE_CHECK(!samples.empty(), "there is no median of nothing");
  std::vector<double> sorted(samples.begin(), samples.end());
  std::ranges::sort(sorted);
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
