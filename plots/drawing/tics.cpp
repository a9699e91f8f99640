#include "plots/drawing/tics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>

#include <fmt/format.h>

#include "plots/drawing/text.hpp"

namespace ringside::plots {
namespace {

constexpr double kTinyStep = 1e-9;  // Rounding must not drop a tic at the end of a range.
constexpr double kTicHeight = 30;   // Pixels that a label of a vertical axis takes.

bool inside(const Range& range, double value) {
  return value >= range.min * (1 - kTinyStep) && value <= range.max * (1 + kTinyStep);
}

int floor_exponent(double logarithm) { return static_cast<int>(std::floor(logarithm + kTinyStep)); }
int ceil_exponent(double logarithm) { return static_cast<int>(std::ceil(logarithm - kTinyStep)); }

/// Remainder that is never negative.
int modulo(int value, int divisor) { return (value % divisor + divisor) % divisor; }

/// Powers of a base as sizes; labelled are those whose exponent is a multiple of the first step that
/// leaves room for the widest label.
std::vector<Tic> power_tics(const Range& bytes, double pixels, double base, std::string_view widest,
                            std::initializer_list<int> steps) {
  const auto power_of = [&](double value) { return std::log(value) / std::log(base); };
  const double pixels_per_power = pixels / std::max(1e-6, power_of(bytes.max / bytes.min));
  const double label_width = text_width(widest, {}) + 14;
  const int step = *std::find_if(steps.begin(), steps.end() - 1,
                                 [&](int each) { return each * pixels_per_power >= label_width; });
  constexpr double kMost = 0x1p62;
  const int last = floor_exponent(power_of(std::min(bytes.max, kMost)));
  std::vector<Tic> tics;
  for (int exponent = std::max(0, ceil_exponent(power_of(bytes.min))); exponent <= last; ++exponent) {
    const std::int64_t size = std::llround(std::pow(base, exponent));
    tics.push_back({static_cast<double>(size), modulo(exponent, step) == 0 ? format(Bytes{size}) : ""});
  }
  return tics;
}

}  // namespace

void Range::include(double value) {
  min = std::min(min, value);
  max = std::max(max, value);
}

std::vector<Tic> size_tics(Range bytes, double pixels) {
  // Steps that keep 1 KiB, 1 MiB and 1 GiB labelled, then whole prefixes.
  return power_tics(bytes, pixels, 2, "512 MiB", {1, 2, 5, 10, 20, 40});
}

std::vector<Tic> decimal_size_tics(Range bytes, double pixels) {
  return power_tics(bytes, pixels, 10, "100 MB", {1, 3});
}

std::vector<Tic> time_tics(Range seconds, double pixels) {
  const int first = floor_exponent(std::log10(seconds.min));
  const int last = ceil_exponent(std::log10(seconds.max));
  const double pixels_per_decade = pixels / std::max(1e-6, std::log10(seconds.max / seconds.min));
  const bool label_two_and_five = pixels_per_decade >= 5 * kTicHeight;
  const bool label_all = pixels_per_decade >= 20 * kTicHeight;  // 8 and 9 are 1/20 of a decade apart.
  constexpr std::array kSteps = {1, 3, 6, 12};
  const int step = *std::find_if(kSteps.begin(), kSteps.end() - 1,
                                 [&](int each) { return each * pixels_per_decade >= kTicHeight; });
  std::vector<Tic> tics;
  for (int exponent = first; exponent <= last; ++exponent) {
    for (int digit = 1; digit <= 9; ++digit) {
      const double value = digit * std::pow(10.0, exponent);
      const bool labelled = (digit == 1 && modulo(exponent, step) == 0) ||
                            (label_two_and_five && (digit == 2 || digit == 5)) || label_all;
      if (inside(seconds, value) && (digit == 1 || step == 1)) {
        tics.push_back({value, labelled ? format(Seconds{value}) : ""});
      }
    }
  }
  return tics;
}

std::vector<Tic> ratio_tics(Range ratio, double pixels) {
  const double pixels_per_decade = pixels / std::max(1e-6, std::log10(ratio.max / ratio.min));
  // Labels of one list stand at least a label's height apart at the given pixels per decade.
  struct Choice {
    double pixels_per_decade;
    std::vector<double> digits;
  };
  const std::array kChoices = {
      Choice{600, {1, 1.1, 1.25, 1.4, 1.6, 2, 2.5, 3, 4, 5, 6, 7, 8, 9}},
      Choice{320, {1, 1.25, 1.6, 2, 2.5, 3, 4, 5, 6, 8}},
      Choice{110, {1, 2, 5}},
      Choice{0, {1}},
  };
  const Choice& choice = *std::ranges::find_if(
      kChoices, [&](const Choice& each) { return pixels_per_decade >= each.pixels_per_decade; });
  const int step = std::max(1, static_cast<int>(std::ceil(kTicHeight / pixels_per_decade)));
  std::vector<Tic> tics;
  for (int exponent = floor_exponent(std::log10(ratio.min)); exponent <= std::log10(ratio.max); ++exponent) {
    for (const double digit : choice.digits) {
      const double value = digit * std::pow(10.0, exponent);
      if (inside(ratio, value)) {
        tics.push_back({value, modulo(exponent, step) == 0 ? fmt::format("{:.3g}", value) : ""});
      }
    }
  }
  return tics;
}

std::vector<Tic> linear_tics(Range range, double unit, double pixels) {
  const double most = std::max(2.0, pixels / 70);
  const double rough = (range.max - range.min) / unit / most;
  const double magnitude = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * magnitude;
  for (const double digit : {1.0, 2.0, 5.0}) {
    if (digit * magnitude >= rough * (1 - kTinyStep)) {
      step = digit * magnitude;
      break;
    }
  }
  std::vector<Tic> tics;
  for (double index = std::ceil(range.min / unit / step - kTinyStep);
       index * step * unit <= range.max + kTinyStep * (range.max - range.min); ++index) {
    const double value = index * step;
    // Rounded to the step, so that 0.30000000000000004 reads 0.3.
    tics.push_back({value * unit, fmt::format("{:.6g}", index == 0 ? 0.0 : value)});
  }
  return tics;
}

NamedUnit time_unit(Seconds max) {
  if (max.value >= 1) {
    return {"s", 1};
  }
  if (max.value >= 1e-3) {
    return {"ms", 1e-3};
  }
  return max.value >= 1e-6 ? NamedUnit{"µs", 1e-6} : NamedUnit{"ns", 1e-9};
}

NamedUnit bandwidth_unit(BytesPerSecond max) {
  if (max.value >= 1e9) {
    return {"GB/s", 1e9};
  }
  return max.value >= 1e6 ? NamedUnit{"MB/s", 1e6} : NamedUnit{"KB/s", 1e3};
}

void keep_labels_apart(std::vector<Tic>& tics, double half, const std::function<double(double)>& pixel_of) {
  double free_from = -std::numeric_limits<double>::infinity();
  for (Tic& tic : tics) {
    const double reach = half > 0 ? half : text_width(tic.label, {}) / 2 + 6;
    const double pixel = pixel_of(tic.at);
    if (pixel - reach >= free_from) {
      free_from = pixel + reach;
    } else {
      tic.label.clear();
    }
  }
}

std::vector<Tic> decade_tics(const Range& range, double unit, double pixels, bool horizontal) {
  std::vector<Tic> tics;
  const int first = static_cast<int>(std::floor(std::log10(range.min / unit)));
  const int last = static_cast<int>(std::ceil(std::log10(range.max / unit)));
  for (int decade = first; decade <= last; ++decade) {
    for (const double step : {1.0, 2.0, 5.0}) {
      const double value = step * std::pow(10.0, decade);
      if (inside(range, value * unit)) {
        tics.push_back({value * unit, fmt::format("{:.6g}", value)});
      }
    }
  }
  const double scale = pixels / std::log(range.max / range.min);
  keep_labels_apart(tics, horizontal ? 0 : 11, [&](double at) { return std::log(at / range.min) * scale; });
  return tics;
}

}  // namespace ringside::plots
