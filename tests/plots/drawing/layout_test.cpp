#include "plots/drawing/layout.hpp"

#include <gtest/gtest.h>

#include "plots/drawing/palette.hpp"
#include "plots/drawing/text.hpp"
#include "tests/plots/placed_texts.hpp"

namespace ringside::plots {
namespace {

TEST(PageLayout, TheFreeAreaShrinksWithTheRowsOfTheLegend) {
  std::vector<LegendEntry> legend;
  Figure without{.name = "a"};
  const Rect all =
      lay_out_page(without, {.title = "title", .subtitle = "subtitle", .footer = "footer"}, legend);
  for (int entry = 0; entry < 20; ++entry) {
    legend.push_back({.label = "a rather long name of an algorithm", .line = Stroke{}});
  }
  Figure with{.name = "b"};
  const Rect less =
      lay_out_page(with, {.title = "title", .subtitle = "subtitle", .footer = "footer"}, legend);
  EXPECT_GT(less.top, all.top + 100);
  EXPECT_DOUBLE_EQ(less.top + less.height, all.top + all.height);
}

TEST(PageLayout, LongTextsStayOnThePage) {
  const std::string endless(2000, 'm');
  Figure figure{.name = "a"};
  lay_out_page(figure, {.title = endless, .subtitle = endless, .footer = endless}, {});
  ASSERT_EQ(figure.panels.size(), 1U);
  for (const Element& element : figure.panels[0].elements) {
    const Text& text = std::get<Text>(element);
    EXPECT_LE(text_width(text.text, text.font), figure.width - 40);
  }
}

TEST(PanelGridLayout, CellsAreDisjointAndInside) {
  const Rect area{.left = 0, .top = 100, .width = 1200, .height = 800};
  for (std::size_t count = 1; count <= 6; ++count) {
    for (int columns = 1; columns <= 3; ++columns) {
      const PanelGrid grid = lay_out_panels(area, count, columns);
      ASSERT_EQ(grid.areas.size(), count);
      for (std::size_t one = 0; one < count; ++one) {
        const Rect& cell = grid.areas[one];
        EXPECT_GE(cell.left, area.left);
        EXPECT_GE(cell.top, area.top);
        EXPECT_LE(cell.left + cell.width, area.left + area.width);
        EXPECT_LE(cell.top + cell.height, area.top + area.height);
        for (std::size_t other = 0; other < one; ++other) {
          EXPECT_FALSE(overlap(cell, grid.areas[other])) << one << " and " << other;
        }
      }
    }
  }
}

TEST(PanelGridLayout, EveryColumnHasItsLowestCellLabelled) {
  const PanelGrid grid = lay_out_panels({0, 0, 1200, 900}, 5, 3);
  EXPECT_FALSE(grid.labels_x(0));
  EXPECT_FALSE(grid.labels_x(1));
  EXPECT_TRUE(grid.labels_x(2));  // Nothing stands below it.
  EXPECT_TRUE(grid.labels_x(3));
  EXPECT_TRUE(grid.labels_y(0));
  EXPECT_FALSE(grid.labels_y(2));
  EXPECT_TRUE(grid.labels_y(3));
}

TEST(LabelPlacer, TakesTheFirstFreePlace) {
  LabelPlacer placer;
  placer.block({.left = 0, .top = 0, .width = 100, .height = 100});
  const std::vector<XY> places = {{50, 50}, {200, 50}, {300, 50}};
  EXPECT_EQ(placer.place(places, 40, 20).x, 200);
  EXPECT_EQ(placer.place(places, 40, 20).x, 300);  // The second is taken now.
}

TEST(LabelPlacer, KeepsOffLines) {
  LabelPlacer placer;
  placer.block_line({0, 50}, {100, 50});
  const std::vector<XY> places = {{50, 50}, {50, 90}};
  EXPECT_EQ(placer.place(places, 40, 20).y, 90);
}

TEST(AxisRoom, GrowsWithLabels) {
  Axis axis{.tics = {{1, "1"}}};
  const double narrow = y_axis_room(axis);
  axis.tics.push_back({2, "100000 s"});
  const double wide = y_axis_room(axis);
  EXPECT_GT(wide, narrow + 40);
  axis.label = "time";
  EXPECT_GT(y_axis_room(axis), wide);
}

}  // namespace
}  // namespace ringside::plots
