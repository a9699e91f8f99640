#include "placed_texts.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "plots/drawing/layout.hpp"
#include "plots/drawing/text.hpp"

namespace ringside::plots {
namespace {

constexpr double kCapHeight = 0.75;  // What most letters cover of their font's size.

double share(const Axis& axis, double value) {
  return axis.log ? std::log(value / axis.min) / std::log(axis.max / axis.min)
                  : (value - axis.min) / (axis.max - axis.min);
}

double x_pixel(const Panel& panel, double x) {
  return panel.area.left + share(panel.x, x) * panel.area.width;
}
double y_pixel(const Panel& panel, double y) {
  return panel.area.top + (1 - share(panel.y, y)) * panel.area.height;
}

PlacedText placed(const std::string& text, const Font& font, XY middle, Align align) {
  const double width = text_width(text, font);
  const double height = kCapHeight * font.size;
  const double left = align == Align::left    ? middle.x
                      : align == Align::right ? middle.x - width
                                              : middle.x - width / 2;
  return {text, {.left = left, .top = middle.y - height / 2, .width = width, .height = height}};
}

void add_axis_texts(const Panel& panel, std::vector<PlacedText>& texts) {
  const Rect& area = panel.area;
  const double bottom = area.top + area.height;
  for (const Tic& tic : panel.x.tics) {
    if (panel.x.show_tic_labels && !tic.label.empty()) {
      texts.push_back(placed(tic.label, {}, {x_pixel(panel, tic.at), bottom + 22}, Align::center));
    }
  }
  for (const Tic& tic : panel.y.tics) {
    if (panel.y.show_tic_labels && !tic.label.empty()) {
      texts.push_back(placed(tic.label, {}, {area.left - 15, y_pixel(panel, tic.at)}, Align::right));
    }
  }
  if (!panel.x.label.empty()) {
    texts.push_back(placed(panel.x.label, {}, {area.left + area.width / 2, bottom + 48}, Align::center));
  }
  if (!panel.y.label.empty()) {
    const double length = text_width(panel.y.label, {});
    const double height = kCapHeight * Font{}.size;
    texts.push_back({panel.y.label,
                     {.left = area.left - y_axis_room(panel.y) + Font{}.size - height / 2,
                      .top = area.top + area.height / 2 - length / 2,
                      .width = height,
                      .height = length}});
  }
  if (!panel.title.empty()) {
    texts.push_back(
        placed(panel.title, {.bold = true}, {area.left + area.width / 2, area.top - 18}, Align::center));
  }
}

}  // namespace

bool overlap(const Rect& a, const Rect& b) {
  return a.left < b.left + b.width && b.left < a.left + a.width && a.top < b.top + b.height &&
         b.top < a.top + a.height;
}

std::vector<PlacedText> placed_texts(const Figure& figure) {
  std::vector<PlacedText> texts;
  for (const Panel& panel : figure.panels) {
    add_axis_texts(panel, texts);
    for (const Element& element : panel.elements) {
      if (const Text* text = std::get_if<Text>(&element)) {
        texts.push_back(placed(text->text, text->font,
                               {x_pixel(panel, text->at.x), y_pixel(panel, text->at.y)}, text->align));
      }
    }
  }
  return texts;
}

std::vector<std::string> texts_of(const Figure& figure) {
  std::vector<std::string> result;
  for (const PlacedText& text : placed_texts(figure)) {
    result.push_back(text.text);
  }
  return result;
}

std::vector<std::string> unreadable_texts(const Figure& figure) {
  std::vector<std::string> faults;
  const std::vector<PlacedText> texts = placed_texts(figure);
  for (std::size_t one = 0; one < texts.size(); ++one) {
    const Rect& box = texts[one].box;
    const bool inside = box.left >= 0 && box.top >= 0 && box.left + box.width <= figure.width &&
                        box.top + box.height <= figure.height;
    if (!inside) {
      faults.push_back(fmt::format("{}: '{}' leaves the page", figure.name, texts[one].text));
    }
    for (std::size_t other = 0; other < one; ++other) {
      if (overlap(box, texts[other].box)) {
        faults.push_back(
            fmt::format("{}: '{}' covers '{}'", figure.name, texts[one].text, texts[other].text));
      }
    }
  }
  return faults;
}

}  // namespace ringside::plots
