#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "plots/drawing/figure.hpp"

/// How wide a text will be, so that labels are placed before anything is drawn.
namespace ringside::plots {

/// Pixels that UTF-8 `text` takes in the font of all charts, DejaVu Sans.
double text_width(std::string_view text, const Font& font);

/// `text`, or as much of its beginning and end as fits into `max_width` pixels around an ellipsis.
std::string shortened(std::string_view text, const Font& font, double max_width);

/// The first of several ways to say a thing for which there is room; none, an empty text.
std::string first_that_fits(std::initializer_list<std::string> texts, const Font& font, double room);

}  // namespace ringside::plots
