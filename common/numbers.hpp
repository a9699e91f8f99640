#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// Numbers in texts: one reader, and one way to write a percentage, for all files and flags.
namespace ringside {

/// Takes the number off the front of `text`; none, and nothing taken, when there is none or it does not fit
/// into N. No spaces, no leading `+`. Instantiated for int, std::int64_t and double.
template <typename N>
std::optional<N> take_number(std::string_view& text);

/// The whole of `text` as a number; none when it is anything else. Only finite floating point.
template <typename N>
std::optional<N> parse_number(std::string_view text) {
  const std::optional<N> number = take_number<N>(text);
  if (!number || !text.empty()) {
    return std::nullopt;
  }
  if constexpr (std::floating_point<N>) {
    if (!std::isfinite(*number)) {
      return std::nullopt;
    }
  }
  return number;
}

/// 0.123 → `12 %`, with one decimal `12.3 %`. Without decimals, less than one per cent has one: `0.4 %`.
std::string percent(double fraction, int decimals = 0);

/// A difference: 0.123 → `+12 %`.
std::string signed_percent(double fraction);

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

/// Ranks, links and devices are counted from 0 in a signed type, places of a container in an unsigned one.
inline std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }

}  // namespace ringside
