#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// A page in plain data: panels at pixel positions, and what stands in each panel in the units of its axes.
/// It knows neither points nor schedules, and nothing of the program that draws it.
namespace ringside::plots {

enum class ImageFormat { png, svg, pdf };

struct Color {
  std::uint32_t rgb = 0;  ///< 0xRRGGBB.
  double opacity = 1;
  bool operator==(const Color&) const = default;
};

enum class Dash { solid, dashed, dotted, dash_dot };
enum class Shape { circle, square, triangle, triangle_down, diamond, pentagon, cross };

struct Stroke {
  Color color;
  double width = 2;  ///< Pixels.
  Dash dash = Dash::solid;
  bool operator==(const Stroke&) const = default;
};

struct MarkStyle {
  Color color;
  Shape shape = Shape::circle;
  double size = 1.2;      ///< 1 is about 6 pixels.
  bool outlined = false;  ///< A thin black outline.
  bool operator==(const MarkStyle&) const = default;
};

struct Font {
  double size = 15;  ///< Pixels; 15 is 11.25 pt.
  bool bold = false;
};
inline constexpr Font kSmallFont{.size = 13};  ///< For labels inside a panel.

struct XY {
  double x = 0;
  double y = 0;
};
/// A share of the way from one to the other.
inline XY between(XY from, XY to, double share) {
  return {from.x + share * (to.x - from.x), from.y + share * (to.y - from.y)};
}

struct Polyline {
  std::vector<XY> points = {};
  Stroke stroke = {};
};

/// The area between `low` and `high`.
struct Band {
  struct At {
    double x, low, high;
  };
  std::vector<At> points = {};
  Color fill = {};
};

struct Marks {
  struct Mark {
    double x = 0, y = 0;
    double low = y, high = y;  ///< An interval, drawn as a bar where it is wider than the value.
  };
  std::vector<Mark> marks = {};
  MarkStyle style = {};
};

struct Boxes {
  struct Box {
    double left, right, low, high;
    Color fill;
  };
  std::vector<Box> boxes = {};
  std::optional<Stroke> border = {};
};

struct Arrows {
  struct Arrow {
    XY from, to;
  };
  std::vector<Arrow> arrows = {};
  Stroke stroke = {};
};

enum class Align { left, center, right };

struct Text {
  XY at = {};  ///< Vertically the middle of the text.
  std::string text = {};
  Align align = Align::left;
  Font font = {};
  Color color = {};
  bool opaque = false;  ///< On a white box that hides what is under the text.
};

/// The line along which values on a grid cross `level`. values[row][column] is at (x[column], y[row]).
struct Contour {
  std::vector<double> x, y;
  std::vector<std::vector<double>> values;
  double level = 0;
  Stroke stroke = {};
};

/// Drawn in the order of the panel, except that every text is on top.
using Element = std::variant<Polyline, Band, Marks, Boxes, Arrows, Text, Contour>;

struct Tic {
  double at = 0;
  std::string label = {};  ///< Empty: a minor tic.
  bool operator==(const Tic&) const = default;
};

struct Axis {
  std::string label = {};
  double min = 0;
  double max = 1;  ///< Below `min` to turn the axis round.
  bool log = false;
  std::vector<Tic> tics = {};
  bool show_tic_labels = true;
};

/// Pixels from the top left corner of the page.
struct Rect {
  double left = 0, top = 0, width = 0, height = 0;
};

struct Panel {
  Rect area;  ///< Inside the axes; labels of axes and the title lie around it.
  std::string title = {};
  Axis x = {};
  Axis y = {};
  std::vector<Element> elements = {};
  bool frame = true;
  bool grid = true;
};

struct Figure {
  std::string name;  ///< File name without extension.
  int width = 1200;
  int height = 750;
  double inches = 0;  ///< Its width on paper, where letters shrink with it; 0: 96 pixels are an inch.
  std::vector<Panel> panels = {};
};

}  // namespace ringside::plots
