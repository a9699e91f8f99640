#include "plots/drawing/color_bar.hpp"

#include <algorithm>

#include "plots/drawing/palette.hpp"
#include "plots/drawing/text.hpp"

namespace ringside::plots {
namespace {

constexpr double kBarWidth = 22;
constexpr double kTicLength = 6;
constexpr double kGap = 12;  // From the end of the bar to its texts.
constexpr int kSteps = 128;

}  // namespace

double color_bar_width(const ColorBar& bar) {
  double widest = text_width(bar.title, {.bold = true}) - kBarWidth - kGap;
  for (const ColorBar::Label& label : bar.labels) {
    widest = std::max(widest, text_width(label.text, {}));
  }
  return kBarWidth + kGap + widest;
}

Rect right_of(const Rect& map) {
  return {.left = map.left + map.width + 26, .top = map.top, .width = kBarWidth, .height = map.height};
}

Panel color_bar_panel(const ColorBar& bar, const Rect& area) {
  Panel panel{.area = {.left = area.left, .top = area.top, .width = kBarWidth, .height = area.height},
              .frame = false,
              .grid = false};
  Boxes steps;
  for (int step = 0; step < kSteps; ++step) {
    const double low = static_cast<double>(step) / kSteps;
    // Each step reaches to the top and is covered by the next: touching boxes show seams.
    steps.boxes.push_back({0, 1, low, 1, bar.color((step + 0.5) / kSteps)});
  }
  panel.elements.emplace_back(std::move(steps));
  const Color edge{.rgb = 0x555555};
  panel.elements.emplace_back(
      Polyline{.points = {{0, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 0}}, .stroke = {.color = edge, .width = 1}});
  for (const ColorBar::Label& label : bar.labels) {
    panel.elements.emplace_back(Polyline{.points = {{1 - kTicLength / kBarWidth, label.at}, {1, label.at}},
                                         .stroke = {.color = edge, .width = 1}});
    panel.elements.emplace_back(Text{.at = {1 + kGap / kBarWidth, label.at}, .text = label.text});
  }
  if (!bar.title.empty()) {
    panel.elements.emplace_back(
        Text{.at = {0, 1 + 22 / area.height}, .text = bar.title, .font = {.bold = true}});
  }
  return panel;
}

}  // namespace ringside::plots
