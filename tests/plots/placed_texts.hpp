#pragma once

#include <string>
#include <vector>

#include "plots/drawing/figure.hpp"

namespace ringside::plots {

/// A text of a figure and the pixels it covers, from the metrics of the font.
struct PlacedText {
  std::string text;
  Rect box;
};

bool overlap(const Rect& a, const Rect& b);

/// Every text of a figure: titles, labels of tics and axes, legends, labels in panels.
std::vector<PlacedText> placed_texts(const Figure& figure);

/// The same without the places.
std::vector<std::string> texts_of(const Figure& figure);

/// Sentences about texts that cover each other or leave the page; none is the hoped-for answer.
std::vector<std::string> unreadable_texts(const Figure& figure);

}  // namespace ringside::plots
