#include "plots/drawing/layout.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "common/error.hpp"
#include "plots/drawing/palette.hpp"
#include "plots/drawing/text.hpp"

namespace ringside::plots {
namespace {

constexpr double kMargin = 20;
constexpr Font kTitleFont{.size = 22, .bold = true};
constexpr Font kSubtitleFont{.size = 16};
constexpr Font kLegendFont{.size = 15};
constexpr Font kFooterFont{.size = 12};
constexpr double kSampleWidth = 40;
constexpr double kLegendRow = 26;

bool has_sample(const LegendEntry& entry) { return entry.line || entry.mark || entry.band; }

void draw_sample(Panel& page, const LegendEntry& entry, double left, double middle) {
  const double right = left + kSampleWidth;
  const double center = (left + right) / 2;
  if (entry.band) {
    page.elements.emplace_back(Band{
        .points = {{left, middle - 7, middle + 7}, {right, middle - 7, middle + 7}}, .fill = *entry.band});
  }
  if (entry.line) {
    page.elements.emplace_back(Polyline{.points = {{left, middle}, {right, middle}}, .stroke = *entry.line});
  }
  if (entry.mark) {
    const double half = entry.interval ? 9 : 0;
    page.elements.emplace_back(
        Marks{.marks = {{center, middle, middle - half, middle + half}}, .style = *entry.mark});
  }
}

/// Rows of entries from the left; returns the bottom of the last row.
double draw_legend(Panel& page, std::span<const LegendEntry> legend, double top, double width) {
  double left = kMargin;
  double middle = top + kLegendRow / 2;
  for (const LegendEntry& entry : legend) {
    const double before = has_sample(entry) ? kSampleWidth + 8 : 0;
    const double needed = before + text_width(entry.label, kLegendFont);
    if (left > kMargin && left + needed > width - kMargin) {
      left = kMargin;
      middle += kLegendRow;
    }
    draw_sample(page, entry, left, middle);
    page.elements.emplace_back(Text{.at = {left + before, middle}, .text = entry.label, .font = kLegendFont});
    left += needed + 26;
  }
  return middle + kLegendRow / 2;
}

double overlap(const Rect& a, const Rect& b) {
  const double width = std::min(a.left + a.width, b.left + b.width) - std::max(a.left, b.left);
  const double height = std::min(a.top + a.height, b.top + b.height) - std::max(a.top, b.top);
  return width > 0 && height > 0 ? width * height : 0;
}

Rect rect_around(const XY& center, double width, double height) {
  return {center.x - width / 2, center.y - height / 2, width, height};
}

constexpr double kBesideMap = 26;  // From a map to its bar.
constexpr double kAroundBar = 50;
constexpr double kBarWidth = 22;
constexpr double kTicLength = 6;
constexpr double kGap = 12;  // From the end of the bar to its texts.
constexpr int kSteps = 128;

}  // namespace

Text centred(XY at, std::string text, const Font& font, Color color) {
  return {.at = at, .text = std::move(text), .align = Align::center, .font = font, .color = color};
}

Text boxed_label(XY at, std::string text, Color color) {
  Text label = centred(at, std::move(text), kSmallFont, color);
  label.opaque = true;
  return label;
}

Panel pixel_panel(const Figure& figure) {
  const auto width = static_cast<double>(figure.width);
  const auto height = static_cast<double>(figure.height);
  return {.area = {0, 0, width, height},
          .x = {.min = 0, .max = width},
          .y = {.min = height, .max = 0},
          .frame = false,
          .grid = false};
}

Rect lay_out_page(Figure& figure, const PageText& text, std::span<const LegendEntry> legend) {
  Panel page = pixel_panel(figure);
  const double width = figure.width;
  const double room = width - 2 * kMargin;
  double top = 16;
  if (!text.title.empty()) {
    page.elements.emplace_back(
        Text{.at = {kMargin, top + 14}, .text = shortened(text.title, kTitleFont, room), .font = kTitleFont});
    top += 32;
  }
  if (!text.subtitle.empty()) {
    page.elements.emplace_back(Text{.at = {kMargin, top + 11},
                                    .text = shortened(text.subtitle, kSubtitleFont, room),
                                    .font = kSubtitleFont,
                                    .color = {.rgb = 0x333333}});
    top += 28;
  }
  if (!legend.empty()) {
    top = draw_legend(page, legend, top + 4, width);
  }
  double bottom = figure.height - 10.0;
  if (!text.footer.empty()) {
    page.elements.emplace_back(Text{.at = {width - kMargin, bottom - 8},
                                    .text = shortened(text.footer, kFooterFont, room),
                                    .align = Align::right,
                                    .font = kFooterFont,
                                    .color = kGrey});
    bottom -= 24;
  }
  figure.panels.push_back(std::move(page));
  return {.left = 0, .top = top, .width = width, .height = bottom - top};
}

double y_axis_room(const Axis& axis) {
  constexpr double kTic = 18;  // The tic and a gap on both sides.
  double widest = 0;
  for (const Tic& tic : axis.tics) {
    widest = std::max(widest, axis.show_tic_labels ? text_width(tic.label, {}) : 0);
  }
  const double label = axis.label.empty() ? 0 : 2 * Font{}.size;
  return kTic + widest + label;
}

PanelGrid lay_out_panels(const Rect& area, std::size_t count, int columns, const PanelMargins& margins) {
  RINGSIDE_CHECK(count > 0 && columns > 0, "a page has no panels");
  const auto num_rows = (count + static_cast<std::size_t>(columns) - 1) / static_cast<std::size_t>(columns);
  const double width = (area.width - margins.left - margins.right - (columns - 1) * margins.gap_x) / columns;
  const double height =
      (area.height - margins.top - margins.bottom - static_cast<double>(num_rows - 1) * margins.gap_y) /
      static_cast<double>(num_rows);
  PanelGrid grid{.columns = columns};
  for (std::size_t index = 0; index < count; ++index) {
    const auto column = static_cast<double>(index % static_cast<std::size_t>(columns));
    const auto row = static_cast<double>(index / static_cast<std::size_t>(columns));
    grid.areas.push_back({.left = area.left + margins.left + column * (width + margins.gap_x),
                          .top = area.top + margins.top + row * (height + margins.gap_y),
                          .width = width,
                          .height = height});
  }
  return grid;
}

void LabelPlacer::block_line(XY from, XY to) {
  constexpr double kStep = 6;
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  const int steps = std::max(1, static_cast<int>(length / kStep));
  for (int step = 0; step <= steps; ++step) {
    const double share = static_cast<double>(step) / steps;
    block(rect_around(between(from, to, share), 4, 4));
  }
}

double LabelPlacer::covered(const Rect& label) const {
  return std::accumulate(taken_.begin(), taken_.end(), 0.0,
                         [&](double sum, const Rect& taken) { return sum + overlap(label, taken); });
}

XY LabelPlacer::place(std::span<const XY> centers, double width, double height) {
  RINGSIDE_CHECK(!centers.empty(), "a label has no place to go");
  constexpr double kPreference = 12;  // Square pixels that one place is worth more than the next.
  double least = std::numeric_limits<double>::infinity();
  XY best = centers.front();
  for (std::size_t index = 0; index < centers.size(); ++index) {
    const double cost =
        kPreference * static_cast<double>(index) + covered(rect_around(centers[index], width, height));
    if (cost < least) {
      least = cost;
      best = centers[index];
    }
  }
  block(rect_around(best, width, height));
  return best;
}

std::optional<XY> LabelPlacer::place_free(std::span<const XY> centers, double width, double height) {
  const auto free = std::ranges::find_if(
      centers, [&](const XY& center) { return covered(rect_around(center, width, height)) == 0; });
  if (free == centers.end()) {
    return std::nullopt;
  }
  block(rect_around(*free, width, height));
  return *free;
}

double color_bar_width(const ColorBar& bar) {
  double widest = text_width(bar.title, {.bold = true}) - kBarWidth - kGap;
  for (const ColorBar::Label& label : bar.labels) {
    widest = std::max(widest, text_width(label.text, {}));
  }
  return kBarWidth + kGap + widest + kAroundBar;
}

Panel color_bar_panel(const ColorBar& bar, const Rect& map) {
  Panel panel{.area = {.left = map.left + map.width + kBesideMap,
                       .top = map.top,
                       .width = kBarWidth,
                       .height = map.height},
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
        Text{.at = {0, 1 + 22 / map.height}, .text = bar.title, .font = {.bold = true}});
  }
  return panel;
}

}  // namespace ringside::plots
