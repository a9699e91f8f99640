#pragma once

#include <map>
#include <string>
#include <vector>

#include "plots/drawing/figure.hpp"

/// One look per algorithm, the same on every chart, for readers who see colours differently and for grey
/// prints: colour (Okabe and Ito, https://jfly.uni-koeln.de/color/), dash and mark all differ.
namespace ringside::plots {

struct SeriesStyle {
  Color color;
  Dash dash = Dash::solid;
  Shape shape = Shape::circle;
  bool operator==(const SeriesStyle&) const = default;

  Stroke line(double width = 2) const { return {.color = color, .width = width, .dash = dash}; }
  MarkStyle mark(double size = 1.2) const { return {.color = color, .shape = shape, .size = size}; }
};

inline constexpr Color kBlack{.rgb = 0x000000};
inline constexpr Color kGrey{.rgb = 0x6E6E6E};
inline constexpr Color kLightGrey{.rgb = 0xE4E4E4};
inline constexpr Color kWhite{.rgb = 0xFFFFFF};
inline constexpr Color kBlue{.rgb = 0x0072B2};
inline constexpr Color kSkyBlue{.rgb = 0x56B4E9};
inline constexpr Color kGreen{.rgb = 0x009E73};
inline constexpr Color kOrange{.rgb = 0xE69F00};
inline constexpr Color kVermillion{.rgb = 0xD55E00};
inline constexpr Color kPurple{.rgb = 0xCC79A7};

/// Algorithms of the registry have fixed styles: those of the table in palette.cpp, the others by their place
/// in the registry. Other names, in alphabetical order, take the styles that follow.
std::map<std::string, SeriesStyle> series_styles(const std::vector<std::string>& algorithms);

/// A colour per name, for areas that are told apart by colour alone: that of series_styles() where no earlier
/// name has it. Eight names differ; more are paler shades of these.
std::map<std::string, Color> category_colors(const std::vector<std::string>& names);

/// Colours of anything else that is told apart by kind: 0, 1, 2, …, again from the start after eight.
Color cycle_color(std::size_t index);

/// Diverging: orange at −1, white at 0, blue at +1; values beyond are clamped.
Color diverging_color(double value);

/// Sequential: nearly white at 0, dark blue at 1; values beyond are clamped.
Color sequential_color(double value);

/// Black or white, whichever is easier to read on `background`.
Color readable_on(const Color& background);

}  // namespace ringside::plots
