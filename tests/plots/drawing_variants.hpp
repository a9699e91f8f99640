#pragma once

#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "plots/drawing/layout.hpp"
#include "plots/drawing/palette.hpp"
#include "plots/drawing/text.hpp"
#include "plots/drawing/tics.hpp"
#include "plots/html/page.hpp"
#include "tests/plots/variants.hpp"

/// What charts are drawn with, over its arguments.
namespace ringside::plots::variants {

inline std::string text_of(const std::vector<Tic>& tics) {
  std::string text;
  for (const Tic& tic : tics) {
    text += fmt::format("{:.10g} {}|", tic.at, tic.label);
  }
  return text;
}

inline void add_tics(Variants& all) {
  all.begin("tics");
  for (const double pixels : {60.0, 100.0, 199.0, 300.0, 340.0, 500.0, 700.0, 1100.0}) {
    for (const double low : {1e-9, 3e-7, 1e-3, 0.5, 0.8, 1.0, 1000.0, 1024.0, 1e6}) {
      for (const double factor : {1.1, 1.25, 1.6, 2.0, 4.0, 10.0, 33.0, 1e3, 1e6, 1e12}) {
        const Range range{low, low * factor};
        all.push_back(fmt::format("{} pixels from {} to {}", pixels, range.min, range.max),
                      text_of(time_tics(range, pixels)) + "\n" + text_of(ratio_tics(range, pixels)) + "\n" +
                          text_of(size_tics(range, pixels)) + "\n" +
                          text_of(decimal_size_tics(range, pixels)) + "\n" +
                          text_of(decade_tics(range, 1e-3, pixels, true)) + "\n" +
                          text_of(decade_tics(range, 1, pixels, false)) + "\n" +
                          text_of(linear_tics(range, 0.01, pixels)) + "\n" +
                          text_of(linear_tics({0, range.max}, 1, pixels)) + "\n" +
                          text_of(linear_tics({-range.max, range.max}, 1, pixels)));
      }
    }
  }
  all.begin("units");
  for (const double value :
       {1e-10, 9.99e-7, 1e-6, 9.99e-4, 1e-3, 0.999, 1.0, 999.0, 1e3, 9.99e5, 1e6, 9.99e8, 1e9}) {
    all.push_back(fmt::format("{}", value),
                  fmt::format("{} {} {} {}", time_unit({value}).name, time_unit({value}).value,
                              bandwidth_unit({value}).name, bandwidth_unit({value}).value));
  }
}

inline void add_colors(Variants& all) {
  all.begin("colours");
  for (int i = -60; i <= 60; ++i) {
    const double value = i / 50.0;
    all.push_back(fmt::format("{}", i),
                  fmt::format("{:06x} {:06x}", diverging_color(value).rgb, sequential_color(value).rgb));
  }
  for (std::uint32_t step = 0; step < 1000; ++step) {
    const Color color{.rgb = step * 16'777};
    all.push_back(fmt::format("{:06x}", color.rgb), fmt::format("{:06x}", readable_on(color).rgb));
  }
  std::vector<std::string> names = {"naive",
                                    "circulating_ring",
                                    "tutorial_ring",
                                    "ring",
                                    "pipelined_ring",
                                    "binomial_tree",
                                    "double_binary_tree",
                                    "recursive_doubling",
                                    "halving_doubling",
                                    "direct",
                                    "direct_two_shot",
                                    "hierarchical",
                                    "native"};
  for (int i = 0; i < 24; ++i) {
    names.push_back(fmt::format("kind {}", i));
  }
  for (std::size_t count = 1; count <= names.size(); ++count) {
    const std::vector<std::string> some(names.end() - static_cast<std::ptrdiff_t>(count), names.end());
    std::string text;
    for (const auto& [name, style] : series_styles(some)) {
      text += fmt::format("{} {:06x} {} {}\n", name, style.color.rgb, static_cast<int>(style.dash),
                          static_cast<int>(style.shape));
    }
    for (const auto& [name, color] : category_colors(some)) {
      text += fmt::format("{} {:06x}\n", name, color.rgb);
    }
    all.push_back(fmt::format("{} names", count), text + fmt::format("{:06x}", cycle_color(count).rgb));
  }
}

inline void add_texts(Variants& all) {
  all.begin("widths of texts");
  for (char character = ' '; character <= '~'; ++character) {
    const std::string text(1, character);
    all.push_back(text, fmt::format("{} {}", text_width(text, {.size = 1000}),
                                    text_width(text, {.size = 1000, .bold = true})));
  }
  for (const char* text : {"", "\x1F", "\x7F", "µ", "→ x", "\xFF", "\xE2\x82"}) {
    all.push_back(text, fmt::format("{} {}", text_width(text, {.size = 10}),
                                    text_width(text, {.size = 20, .bold = true})));
  }
  all.begin("shortened texts");
  for (int width = 0; width < 200; ++width) {
    for (const char* text : {"", "a", "ring", "a/long/name → of.jsonl", "µµµµµµµµµµµµ"}) {
      all.push_back(
          fmt::format("{} in {}", text, width),
          shortened(text, {}, width) + first_that_fits({"somewhat longer", text, "i"}, kSmallFont, width));
    }
  }
}

inline void add_layouts(Variants& all) {
  all.begin("layouts");
  for (int height = 2; height < 60; height += 3) {
    LabelPlacer placer;
    placer.block({10, 10, 50, 20});
    placer.block_line({0, 60}, {100, 60 + 2.0 * height});
    placer.block_line({0, 0}, {3, 0});
    const std::vector<XY> places = {{35, 20}, {60, 25}, {40, 70}, {41, 90}, {90, 30}, {90, 200}};
    std::string text;
    for (int i = 0; i < 4; ++i) {
      const XY place = placer.place(places, 30, height);
      const std::optional<XY> free = placer.place_free(places, 24, height);
      text += fmt::format("{} {} {} {}\n", place.x, place.y, free ? free->x : -1, free ? free->y : -1);
    }
    all.push_back(fmt::format("labels {} high", height), text);
  }
  for (const auto& [title, subtitle, footer] : {std::array<std::string, 3>{"", "", ""},
                                                {"t", "", ""},
                                                {"", "s", ""},
                                                {"", "", "f"},
                                                {"t", "s", "f"}}) {
    for (int entries = 0; entries < 12; ++entries) {
      Figure figure{.name = "page"};
      std::vector<LegendEntry> legend(static_cast<std::size_t>(entries), {.label = "an algorithm"});
      for (std::size_t i = 0; i < legend.size(); ++i) {
        legend[i].label += std::string(3 * i, 'm');
        if (i % 2 == 1) {
          legend[i].line = Stroke{};
        }
        if (i % 3 == 1) {
          legend[i].mark = MarkStyle{.color = kBlack, .outlined = i % 2 == 0};
          legend[i].interval = i % 4 == 1;
        }
        if (i % 4 == 1) {
          legend[i].band = kBlue;
        }
      }
      const Rect left = lay_out_page(figure, {title, subtitle, footer}, legend);
      all.push_back({fmt::format("{}{}{} {}", title, subtitle, footer, entries), {figure}});
      all.push_back("left", fmt::format("{} {} {} {}", left.left, left.top, left.width, left.height));
    }
  }
  for (std::size_t count = 1; count <= 7; ++count) {
    for (int columns = 1; columns <= 4; ++columns) {
      const PanelGrid grid = lay_out_panels({10, 20, 1000, 700}, count, columns);
      std::string text = fmt::format("{}", grid.columns);
      for (std::size_t i = 0; i < count; ++i) {
        const Rect& area = grid.areas[i];
        text += fmt::format("\n{} {} {} {} {} {}", area.left, area.top, area.width, area.height,
                            grid.labels_x(i), grid.labels_y(i));
      }
      all.push_back(fmt::format("{} panels in {} columns", count, columns), text);
    }
  }
  for (const Axis& axis : {Axis{}, Axis{.label = "time"}, Axis{.tics = {{1, "1"}, {2, "1000"}, {3, "10"}}},
                           Axis{.label = "time", .tics = {{1, "100"}}, .show_tic_labels = false}}) {
    all.push_back("room of an axis", fmt::format("{}", y_axis_room(axis)));
  }
  for (const std::string& title :
       {std::string(), std::string("GB/s"), std::string("a long title of a bar")}) {
    const ColorBar bar{.title = title, .color = diverging_color, .labels = {{0, "none"}, {0.75, "a label"}}};
    Figure figure{.name = "bar"};
    figure.panels.push_back(color_bar_panel(bar, {100, 50, 600, 400}));
    all.push_back({fmt::format("{}", color_bar_width(bar)), {figure}});
  }
}

/// One of each element, styled in every way, in every format.
inline void add_scripts(Variants& all) {
  all.begin("scripts");
  for (const ImageFormat format : {ImageFormat::png, ImageFormat::svg, ImageFormat::pdf}) {
    for (const double inches : {0.0, 3.3, 6.7}) {
      Figure figure{.name = "all", .width = 560, .height = 300, .inches = inches};
      Panel panel{.area = {50, 40, 300, 200}, .title = "it's"};
      panel.x = {.label = "x", .min = 1, .max = 10, .log = true, .tics = {{1, "one"}, {3, ""}, {9, "'"}}};
      panel.y = {.label = "y", .min = 3, .max = 0.5, .tics = {{1, "1"}}, .show_tic_labels = inches > 0};
      for (int i = 0; i < 7; ++i) {
        const Color color{.rgb = 0x102030U * static_cast<unsigned>(i + 1), .opacity = 1 - i / 7.0};
        const Stroke stroke{.color = color, .width = 0.3 * i, .dash = static_cast<Dash>(i % 4)};
        const double at = 1 + i;
        panel.elements.emplace_back(Polyline{.points = {{at, 1}, {at + 1, 2}}, .stroke = stroke});
        panel.elements.emplace_back(Polyline{.points = {}, .stroke = stroke});
        panel.elements.emplace_back(Band{.points = {{at, 1, 2}, {at + 1, 2, 3}}, .fill = color});
        panel.elements.emplace_back(Marks{
            .marks = {{at, 1}, {at, 1, 0.5, i % 2 == 0 ? 1.5 : 0.5}},
            .style = {.color = color, .shape = static_cast<Shape>(i), .size = 0.5 * i, .outlined = i > 3}});
        panel.elements.emplace_back(Boxes{.boxes = {{at, at + 0.5, 1, 2, color}, {2, 3, 1, 2, kBlue}}});
        panel.elements.emplace_back(Boxes{.boxes = {{at, at + 0.5, 1, 2, color}}, .border = stroke});
        panel.elements.emplace_back(
            Arrows{.arrows = {{{at, 1}, {at + 2, 1.5}}, {{at, 2}, {1, 1}}}, .stroke = stroke});
        panel.elements.emplace_back(Text{.at = {at, 2},
                                         .text = std::string("a") + static_cast<char>(29 + i) + "\x7F\x7E",
                                         .align = static_cast<Align>(i % 3),
                                         .font = {.size = 9.5 + i, .bold = i % 2 == 1},
                                         .color = color,
                                         .opaque = i > 2});
      }
      panel.elements.emplace_back(
          Contour{.x = {1, 2}, .y = {3, 4, 5}, .values = {{1, 2}, {3, 4}, {5, 6}}, .level = 2});
      figure.panels = {panel, Panel{.area = {0, 0, 10, 10}, .frame = false, .grid = false}};
      all.push_back(fmt::format("{} inches", inches), gnuplot_script(figure, format));
    }
  }
  all.begin("data of pages");
  for (const std::size_t count : {1U, 2U, 3U, 4U, 9U}) {
    const std::vector<std::int64_t> sizes = {1024, 4096, 65536, 1 << 20};
    const std::vector<std::string> algorithms = {
        "naive",         "tutorial_ring",      "ring",   "direct", "direct_two_shot",
        "binomial_tree", "double_binary_tree", "native", "mine"};
    const std::vector<std::string> some(algorithms.begin(),
                                        algorithms.begin() + static_cast<std::ptrdiff_t>(count));
    std::vector<Point> points = at_sizes(sizes, some);
    all.push_back(fmt::format("{} algorithms", count), chart_data(points));
    points[0].predicted->low = Seconds{1e-6};
    all.push_back("a low end", chart_data(points));
    points[0].predicted->high = Seconds{1e-3};
    points[1].predicted.reset();
    points[1].measured.reset();
    points[2].predicted.reset();
    points[3].measured->outcome = Outcome::failed;
    points.push_back(point("ring", 8, 4096, 1e-3, 2e-3));
    all.push_back("odd points", chart_data(points));
    all.push_back("one size", chart_data(at_sizes({88'000'000}, some)));
    all.push_back("curves",
                  chart_data({}, {{.title = "t",
                                   .x = "x",
                                   .y = "y",
                                   .x_text = [](double x) { return fmt::format("{}", x); },
                                   .curves = std::vector<Curve>(
                                       count, {.label = "a", .points = {{1, 0.5}}, .mark = XY{2, 0.004}})}}));
  }
}

}  // namespace ringside::plots::variants
