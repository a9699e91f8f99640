#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plots/drawing/figure.hpp"

namespace ringside::plots {

/// A colour scale beside a map: `color` of 0 (bottom) to 1 (top), with texts to the right of it.
struct ColorBar {
  struct Label {
    double at;  ///< 0 … 1.
    std::string text;
  };
  std::string title;
  std::function<Color(double)> color;
  std::vector<Label> labels;
};

/// Pixels that the bar and its texts take beside a map.
double color_bar_width(const ColorBar& bar);

/// Where the bar of a map stands.
Rect right_of(const Rect& map);

/// The bar as a panel at the left edge of `area`.
Panel color_bar_panel(const ColorBar& bar, const Rect& area);

}  // namespace ringside::plots
