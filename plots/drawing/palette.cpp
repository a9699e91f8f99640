#include "plots/drawing/palette.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>
#include <utility>

#include "schedule/registry.hpp"

namespace ringside::plots {
namespace {

using NamedStyle = std::pair<std::string_view, SeriesStyle>;

// Algorithms that are compared most differ in colour; relatives share one and differ in dash and mark.
constexpr std::array kNamed = {
    NamedStyle{"naive", {kVermillion, Dash::solid, Shape::circle}},
    NamedStyle{"circulating_ring", {kSkyBlue, Dash::solid, Shape::circle}},
    NamedStyle{"tutorial_ring", {kSkyBlue, Dash::dashed, Shape::square}},
    NamedStyle{"ring", {kBlue, Dash::solid, Shape::triangle}},
    NamedStyle{"pipelined_ring", {kPurple, Dash::solid, Shape::diamond}},
    NamedStyle{"binomial_tree", {kGreen, Dash::solid, Shape::triangle_down}},
    NamedStyle{"double_binary_tree", {kGreen, Dash::dashed, Shape::pentagon}},
    NamedStyle{"recursive_doubling", {kOrange, Dash::solid, Shape::square}},
    NamedStyle{"halving_doubling", {kOrange, Dash::dashed, Shape::diamond}},
    NamedStyle{"direct", {kVermillion, Dash::dash_dot, Shape::triangle_down}},
    NamedStyle{"direct_two_shot", {kVermillion, Dash::dotted, Shape::pentagon}},
    NamedStyle{"hierarchical", {kPurple, Dash::dashed, Shape::triangle}},
    NamedStyle{"native", {kBlack, Dash::solid, Shape::cross}},
};

constexpr std::array kOthers = {
    SeriesStyle{kGreen, Dash::dotted, Shape::circle},   SeriesStyle{kPurple, Dash::dotted, Shape::square},
    SeriesStyle{kBlue, Dash::dash_dot, Shape::diamond}, SeriesStyle{kOrange, Dash::dotted, Shape::triangle},
    SeriesStyle{kBlack, Dash::dashed, Shape::circle},   SeriesStyle{kSkyBlue, Dash::dotted, Shape::pentagon},
    SeriesStyle{kGrey, Dash::solid, Shape::square},     SeriesStyle{kGreen, Dash::dash_dot, Shape::diamond},
    SeriesStyle{kBlack, Dash::dotted, Shape::triangle},
};

constexpr std::array kCycle = {kBlue, kOrange, kGreen, kVermillion, kPurple, kSkyBlue, kGrey, kBlack};

/// Between neighbouring stops, linear in sRGB, which is what the stops were made for.
Color blend(std::span<const std::uint32_t> stops, double position) {
  const double scaled = std::clamp(position, 0.0, 1.0) * static_cast<double>(stops.size() - 1);
  const auto index = std::min(static_cast<std::size_t>(scaled), stops.size() - 2);
  const double share = scaled - static_cast<double>(index);
  std::uint32_t result = 0;
  for (const unsigned shift : {16U, 8U, 0U}) {
    const double from = (stops[index] >> shift) & 0xFFU;
    const double to = (stops[index + 1] >> shift) & 0xFFU;
    result |= static_cast<std::uint32_t>(std::lround(from + share * (to - from))) << shift;
  }
  return {.rgb = result};
}

/// Half way to white.
Color half_tone(const Color& color) {
  const std::array<std::uint32_t, 2> stops = {color.rgb, kWhite.rgb};
  return blend(stops, 0.55);
}

// ColorBrewer's Blues and Oranges (Brewer and Harrower, https://colorbrewer2.org), which stay apart for all
// common kinds of colour blindness.
constexpr std::array<std::uint32_t, 5> kBlues = {0xFFFFFF, 0xC6DBEF, 0x6BAED6, 0x2171B5, 0x08306B};
constexpr std::array<std::uint32_t, 5> kOranges = {0xFFFFFF, 0xFDD0A2, 0xFD8D3C, 0xD94801, 0x7F2704};

}  // namespace

std::map<std::string, SeriesStyle> series_styles(const std::vector<std::string>& algorithms) {
  std::map<std::string, SeriesStyle> fixed(kNamed.begin(), kNamed.end());
  std::size_t num_others = 0;
  for (const Algorithm& algorithm : all_algorithms()) {
    const auto [style, is_new] = fixed.try_emplace(std::string(algorithm.name));
    if (is_new) {
      style->second = kOthers[num_others++ % kOthers.size()];
    }
  }
  std::map<std::string, SeriesStyle> styles;
  for (const std::string& algorithm : std::set<std::string>(algorithms.begin(), algorithms.end())) {
    const auto found = fixed.find(algorithm);
    styles[algorithm] = found != fixed.end() ? found->second : kOthers[num_others++ % kOthers.size()];
  }
  return styles;
}

std::map<std::string, Color> category_colors(const std::vector<std::string>& names) {
  const std::map<std::string, SeriesStyle> styles = series_styles(names);
  std::map<std::string, Color> colors;
  std::vector<Color> left(kCycle.begin(), kCycle.end());
  const auto take = [&](const std::string& name, const Color& color) {
    colors[name] = color;
    std::erase(left, color);
  };
  for (const std::string& name : names) {
    const Color usual = styles.at(name).color;
    if (std::ranges::find(left, usual) != left.end()) {
      take(name, usual);
    }
  }
  std::size_t num_shades = 0;
  for (const std::string& name : names) {
    if (colors.contains(name)) {
      continue;
    }
    if (!left.empty()) {
      take(name, left.front());
    } else {
      colors[name] = half_tone(cycle_color(num_shades++));
    }
  }
  return colors;
}

Color cycle_color(std::size_t index) { return kCycle[index % kCycle.size()]; }

Color diverging_color(double value) { return value < 0 ? blend(kOranges, -value) : blend(kBlues, value); }

Color sequential_color(double value) {
  constexpr double kPalest = 0.06;  // A small value still differs from the paper.
  return blend(kBlues, kPalest + (1 - kPalest) * value);
}

Color readable_on(const Color& background) {
  const auto channel = [&](unsigned shift) { return static_cast<double>((background.rgb >> shift) & 0xFFU); };
  // Perceived lightness of sRGB, ITU-R BT.601 weights.
  const double lightness = 0.299 * channel(16) + 0.587 * channel(8) + 0.114 * channel(0);
  return lightness > 140 ? kBlack : kWhite;
}

}  // namespace ringside::plots
