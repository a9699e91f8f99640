#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plots/drawing/figure.hpp"

/// Where things stand on a page, so that nothing covers anything.
namespace ringside::plots {

struct LegendEntry {
  std::string label;
  std::optional<Stroke> line = {};
  std::optional<MarkStyle> mark = {};
  bool interval = false;  ///< A bar through the mark.
  std::optional<Color> band = {};
};

struct PageText {
  std::string title;     ///< What was looked at: the scenario.
  std::string subtitle;  ///< What this chart shows.
  std::string footer;
};

/// A text whose middle is at `at`.
Text centred(XY at, std::string text, const Font& font, Color color);

/// The same as a label that hides what is under it.
Text boxed_label(XY at, std::string text, Color color);

/// Puts title, legend and footer on the page (as its first panel) and returns what is left between them.
Rect lay_out_page(Figure& figure, const PageText& text, std::span<const LegendEntry> legend);

/// A panel over the whole page whose units are pixels from the top left corner.
Panel pixel_panel(const Figure& figure);

/// Pixels to the left of a panel that the labels of its y axis take.
double y_axis_room(const Axis& axis);

/// Room to keep around the insides of panels.
struct PanelMargins {
  double left = 92, right = 34, top = 34, bottom = 62;
  double gap_x = 42, gap_y = 52;  ///< Between neighbours that share their axes' labels.
};

/// Cells of a grid, row by row; axes are labelled in the first column and below the lowest cells.
struct PanelGrid {
  std::vector<Rect> areas = {};
  int columns = 1;
  bool labels_y(std::size_t index) const { return index % static_cast<std::size_t>(columns) == 0; }
  bool labels_x(std::size_t index) const { return index + static_cast<std::size_t>(columns) >= areas.size(); }
};
PanelGrid lay_out_panels(const Rect& area, std::size_t count, int columns, const PanelMargins& margins = {});

/// Finds room for labels: the best of several places, and nobody else may have it afterwards.
class LabelPlacer {
 public:
  void block(const Rect& taken) { taken_.push_back(taken); }
  /// Blocks the neighbourhood of a line, so that labels of other lines keep off it.
  void block_line(XY from, XY to);
  /// The candidate centre where a label of this width and height covers least; earlier ones are preferred.
  XY place(std::span<const XY> centers, double width, double height);
  /// The first candidate where it covers nothing; nothing when there is none.
  std::optional<XY> place_free(std::span<const XY> centers, double width, double height);

 private:
  /// Square pixels of what is taken.
  double covered(const Rect& label) const;

  std::vector<Rect> taken_;
};

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

/// Pixels beside a map that are left for the bar and its texts.
double color_bar_width(const ColorBar& bar);

/// The bar as a panel to the right of a map.
Panel color_bar_panel(const ColorBar& bar, const Rect& map);

}  // namespace ringside::plots
