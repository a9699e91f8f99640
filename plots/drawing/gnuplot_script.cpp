// gnuplot's language: the script of each element of a figure.
#include <array>
#include <cmath>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/error.hpp"
#include "common/text.hpp"
#include "plots/drawing/gnuplot.hpp"
#include "plots/drawing/layout.hpp"

namespace ringside::plots {
namespace {

constexpr double kPixelsPerInch = 96;
constexpr double kPrintedPixelsPerInch = 300;
constexpr std::string_view kFontName = "DejaVu Sans";
constexpr std::uint32_t kGridColor = 0xDDDDDD;
constexpr std::uint32_t kFrameColor = 0x555555;

/// A single-quoted string: only the quote has a meaning inside, doubled for itself. One at the
/// beginning becomes an apostrophe, for gnuplot takes three quotes in a row for the end of a string.
std::string literal(std::string_view text) {
  const std::string shown = with_directions_spelt(valid_utf8(std::string(text)));
  text = shown;
  std::string result = "'";
  if (text.starts_with('\'')) {
    result += "’";
    text.remove_prefix(1);
  }
  for (const char character : text) {
    if (character == '\'') {
      result += "''";
    } else {
      const bool control = static_cast<unsigned char>(character) < 0x20 || character == 0x7F;
      result += control ? ' ' : character;  // A line break would end the command.
    }
  }
  return result + "'";
}

std::string color(const Color& value) {
  const auto transparency = static_cast<unsigned>(std::lround((1 - value.opacity) * 255));
  return transparency == 0 ? fmt::format("rgb '#{:06x}'", value.rgb)
                           : fmt::format("rgb '#{:02x}{:06x}'", transparency, value.rgb);
}

std::string_view dash(Dash value) {
  constexpr std::array<std::string_view, 4> kDashes = {"solid", "(9,7)", "(1,5)", "(9,6,1,6)"};
  return kDashes.at(static_cast<std::size_t>(value));
}

std::string stroke(const Stroke& value) {
  return fmt::format("lc {} lw {:.3g} dt {}", color(value.color), value.width, dash(value.dash));
}

/// gnuplot's numbers for filled shapes, and for their outlines, in the order of Shape.
std::pair<int, int> point_type(Shape shape) {
  constexpr std::array<std::pair<int, int>, 7> kTypes = {
      {{7, 6}, {5, 4}, {9, 8}, {11, 10}, {13, 12}, {15, 14}, {2, 2}}};
  return kTypes.at(static_cast<std::size_t>(shape));
}

std::string number(double value) {
  RINGSIDE_CHECK(std::isfinite(value), "a chart was given a number that is not finite");
  return fmt::format("{:.10g}", value);
}

/// Writes the script of one figure.
class ScriptWriter {
 public:
  ScriptWriter(const Figure& figure, ImageFormat format) : figure_(figure), format_(format) {}

  std::string write() {
    line("set encoding utf8");
    line(terminal());
    line("set style textbox 1 opaque fillcolor rgb '#ffffff' noborder margins 0.6,0.4");
    line("set style fill solid noborder");
    line("set errorbars small");
    line("unset key");
    line("set multiplot");
    for (const Panel& panel : figure_.panels) {
      write_panel(panel);
    }
    line("unset multiplot");
    return std::move(script_);
  }

 private:
  void line(std::string_view text) {
    script_ += text;
    script_ += '\n';
  }
  template <typename Part, typename... Parts>
  void line(fmt::format_string<Part, Parts...> text, Part&& part, Parts&&... parts) {
    line(fmt::format(text, std::forward<Part>(part), std::forward<Parts>(parts)...));
  }

  std::string terminal() const {
    const bool png = format_ == ImageFormat::png;
    if (format_ == ImageFormat::svg || (png && figure_.inches == 0)) {
      return fmt::format("set terminal {} size {},{} noenhanced font {} background rgb '#ffffff' rounded",
                         png ? "pngcairo" : "svg", figure_.width, figure_.height, font({}));
    }
    const double inches = figure_.inches > 0 ? figure_.inches : figure_.width / kPixelsPerInch;
    const double scale = inches / figure_.width * (png ? kPrintedPixelsPerInch : kPixelsPerInch);
    const double units = inches * (png ? kPrintedPixelsPerInch : 1) / figure_.width;
    const std::string_view unit = png ? "" : "in";
    return fmt::format(
        "set terminal {} size {:.{}f}{},{:.{}f}{} noenhanced font {} background rgb '#ffffff' "
        "rounded fontscale {:.4g} linewidth {:.4g} pointscale {:.4g}",
        png ? "pngcairo" : "pdfcairo", units * figure_.width, png ? 0 : 4, unit, units * figure_.height,
        png ? 0 : 4, unit, font({}), scale, scale, scale);
  }

  /// The svg terminal takes pixels, the others points of 1/72 inch on a page of 96 pixels per inch.
  std::string font(const Font& value) const {
    const double size = format_ == ImageFormat::svg ? value.size : value.size * 72 / kPixelsPerInch;
    return literal(fmt::format("{}{},{:.4g}", kFontName, value.bold ? " Bold" : "", size));
  }

  void write_panel(const Panel& panel) {
    RINGSIDE_CHECK(panel.area.width > 0 && panel.area.height > 0, "a chart has no room for a panel");
    const double width = figure_.width;
    const double height = figure_.height;
    line("set lmargin at screen {}", number(panel.area.left / width));
    line("set rmargin at screen {}", number((panel.area.left + panel.area.width) / width));
    line("set tmargin at screen {}", number(1 - panel.area.top / height));
    line("set bmargin at screen {}", number(1 - (panel.area.top + panel.area.height) / height));
    line(panel.frame ? fmt::format("set border 3 lw 1 lc rgb '#{:06x}'", kFrameColor) : "unset border");
    line(panel.title.empty() ? "unset title"
                             : fmt::format("set title {} font {} offset 0,-0.4", literal(panel.title),
                                           font({.size = 15, .bold = true})));
    write_axis('x', panel.x);
    write_axis('y', panel.y);
    line(panel.grid ? fmt::format("set grid xtics ytics back lt 1 lc rgb '#{:06x}' lw 1", kGridColor)
                    : "unset grid");

    line("unset label");
    clauses_.clear();
    // A panel of texts alone still needs something to plot: a point in white under everything else.
    plot(row({panel.x.min, panel.y.min}), {"1:2 with dots lc rgb '#ffffff'"});
    if (!panel.y.label.empty()) {
      const double x = panel.area.left - y_axis_room(panel.y) + Font{}.size;
      const double y = height - panel.area.top - panel.area.height / 2;
      line("set label {} at screen {},{} center rotate by 90 font {}", literal(panel.y.label),
           number(x / width), number(y / height), font({}));
    }
    for (const Element& element : panel.elements) {
      std::visit([this](const auto& value) { write(value); }, element);
    }
    line("plot " + fmt::format("{}", fmt::join(clauses_, ", \\\n     ")));
  }

  void write_axis(char axis, const Axis& value) {
    // In this order: the range of the panel before may hold values that a logarithm does not have.
    line("unset logscale {}", axis);
    line("set {}range [{}:{}]", axis, number(value.min), number(value.max));
    if (value.log) {
      line("set logscale {}", axis);
    }
    // The y label is placed by us: gnuplot's guess at the width of tic labels runs off the page.
    const bool horizontal = axis == 'x';
    line(value.label.empty() || !horizontal
             ? fmt::format("unset {}label", axis)
             : fmt::format("set {}label {} font {}", axis, literal(value.label), font({})));
    if (value.tics.empty()) {
      line("unset {}tics", axis);
      return;
    }
    std::string list;
    for (const Tic& tic : value.tics) {
      const bool labelled = !tic.label.empty();
      list += list.empty() ? "" : ", ";
      list +=
          literal(value.show_tic_labels ? tic.label : "") + " " + number(tic.at) + (labelled ? " 0" : " 1");
    }
    line("set {}tics nomirror out scale 0.8,0.4 font {} ({})", axis, font({.size = 15}), list);
  }

  /// Inline data; returns its name.
  std::string block(const std::string& rows) {
    const std::string name = fmt::format("$data{}", num_blocks_++);
    line(name + " << END_OF_DATA");
    script_ += rows;
    line("END_OF_DATA");
    return name;
  }

  static std::string row(std::initializer_list<double> numbers) {
    std::string text;
    for (const double value : numbers) {
      text += (text.empty() ? "" : " ") + number(value);
    }
    return text + '\n';
  }

  /// Plots rows `using` so and so, in each of the ways that are no empty text; nothing without rows.
  void plot(const std::string& rows, std::initializer_list<std::string> usings) {
    const std::string data = rows.empty() ? "" : block(rows);
    for (const std::string& how : usings) {
      if (!rows.empty() && !how.empty()) {
        clauses_.push_back(data + " using " + how);
      }
    }
  }

  void write(const Polyline& value) {
    std::string rows;
    for (const XY& at : value.points) {
      rows += row({at.x, at.y});
    }
    plot(rows, {"1:2 with lines " + stroke(value.stroke)});
  }

  void write(const Band& value) {
    std::string rows;
    for (const Band::At& at : value.points) {
      rows += row({at.x, at.low, at.high});
    }
    plot(rows, {"1:2:3 with filledcurves fc " + color(value.fill)});
  }

  void write(const Marks& value) {
    std::string rows;
    bool intervals = false;
    for (const Marks::Mark& mark : value.marks) {
      intervals = intervals || mark.low < mark.high;
      rows += row({mark.x, mark.y, mark.low, mark.high});
    }
    const auto [filled, outline] = point_type(value.style.shape);
    const auto size = fmt::format("{:.3g}", value.style.size);
    const auto outlined = fmt::format("1:2 with points pt {} ps {} lw 1.5 lc rgb '#000000'", outline, size);
    plot(rows, {fmt::format("{} pt {} ps {} lw 1.5 lc {}",
                            intervals ? "1:2:3:4 with yerrorbars" : "1:2 with points", filled, size,
                            color(value.style.color)),
                value.style.outlined ? outlined : ""});
  }

  void write(const Boxes& value) {
    std::string rows;
    for (const Boxes::Box& box : value.boxes) {
      const auto fill = static_cast<double>(box.fill.rgb);
      rows += row({box.left, box.low, box.left, box.right, box.low, box.high, fill});
    }
    plot(rows, {"1:2:3:4:5:6:7 with boxxyerror fs solid noborder lc rgb variable",
                value.border ? "1:2:3:4:5:6 with boxxyerror fs empty " + stroke(*value.border) : ""});
  }

  void write(const Arrows& value) {
    std::string rows;
    for (const auto& [from, to] : value.arrows) {
      rows += row({from.x, from.y, to.x - from.x, to.y - from.y});
    }
    plot(rows, {fmt::format("1:2:3:4 with vectors head filled size screen {},18 {}",
                            number(11.0 / figure_.width), stroke(value.stroke))});
  }

  void write(const Text& value) {
    constexpr std::array kAlign = {"left", "center", "right"};
    line("set label {} at {},{} {} font {} tc {} front{}", literal(value.text), number(value.at.x),
         number(value.at.y), kAlign[static_cast<std::size_t>(value.align)], font(value.font),
         color(value.color), value.opaque ? " boxed bs 1" : "");
  }

  /// gnuplot finds contours of a surface over linear axes; here they become one more set of lines.
  void write(const Contour& value) {
    std::string rows;
    for (std::size_t row = 0; row < value.y.size(); ++row) {
      for (std::size_t column = 0; column < value.x.size(); ++column) {
        rows += this->row({value.x[column], value.y[row], value.values[row][column]});
      }
      rows += "\n";
    }
    const std::string data = block(rows);
    const std::string lines = fmt::format("$contour{}", num_blocks_++);
    line("set contour base");
    line("unset surface");
    line("set cntrparam linear levels discrete " + number(value.level));
    line("set table " + lines);
    line("splot " + data + " using 1:2:3");
    line("unset table");
    line("unset contour");
    line("set surface");
    clauses_.push_back(lines + " using 1:2 with lines " + stroke(value.stroke));
  }

  const Figure& figure_;
  ImageFormat format_;
  std::string script_;
  std::vector<std::string> clauses_;
  int num_blocks_ = 0;
};

}  // namespace

std::string gnuplot_script(const Figure& figure, ImageFormat format) {
  return ScriptWriter(figure, format).write();
}

}  // namespace ringside::plots
