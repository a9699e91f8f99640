#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "plots/charts/charts.hpp"
#include "plots/drawing/palette.hpp"
#include "tests/plots/figure_parts.hpp"
#include "tests/plots/placed_texts.hpp"
#include "tests/plots/samples.hpp"

namespace ringside::plots {
namespace {

using testing::Contains;
using testing::Each;
using testing::Field;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

SpeedupGrid small_grid() {
  return {.baseline = "naive",
          .candidate = "ring",
          .ranks = {2, 4},
          .sizes = {{1024}, {2048}, {4096}},
          .speedup = {{0.5, 1, 2}, {0.25, 1, 4}}};
}

TEST(SpeedupMap, ColoursAreCentredAtOne) {
  const Panel map = plots_of(speedup_map(small_grid(), kContext).at(0)).at(0);
  const std::vector<Boxes> boxes = elements_of<Boxes>(map);
  ASSERT_THAT(boxes.at(0).boxes, SizeIs(6));
  EXPECT_EQ(boxes[0].boxes[1].fill, kWhite);
  EXPECT_EQ(boxes[0].boxes[0].fill, diverging_color(-0.5));  // The scale ends at 4 ×.
  EXPECT_EQ(boxes[0].boxes[5].fill, diverging_color(1));
}

TEST(SpeedupMap, TheBarSaysWhoIsFasterAndByHowMuch) {
  EXPECT_THAT(texts_of(speedup_map(small_grid(), kContext).at(0)),
              testing::IsSupersetOf({"ring 4× faster", "ring 2× faster", "equally fast", "naive 2× faster",
                                     "naive 4× faster"}));
  SpeedupGrid extreme = small_grid();
  extreme.speedup[0][0] = 1000;
  EXPECT_THAT(texts_of(speedup_map(extreme, kContext).at(0)), Contains("ring ≥ 16× faster"));
}

TEST(SpeedupMap, MeasuredCellsShowTheirWinner) {
  SpeedupGrid grid = small_grid();
  grid.measured = {{2, {1024}, 0.7}, {4, {4096}, 3}, {8, {4096}, 3}, {4, {999}, 3}};
  const Panel map = plots_of(speedup_map(grid, kContext).at(0)).at(0);
  const std::vector<Text> winners = elements_of<Text>(map);
  ASSERT_THAT(winners, SizeIs(2));  // Cells that the grid does not have are skipped.
  EXPECT_THAT(winners[0].text, testing::MatchesRegex("(naive )?[0-9.]+×")) << winners[0].text;
  EXPECT_THAT(winners[1].text, testing::MatchesRegex("(ring )?[0-9.]+×")) << winners[1].text;
  EXPECT_THAT(elements_of<Boxes>(map).at(1).boxes, SizeIs(2));
}

TEST(SpeedupMap, HasAContourUnlessPredictionsAreMissing) {
  EXPECT_THAT(elements_of<Contour>(plots_of(speedup_map(small_grid(), kContext).at(0)).at(0)), SizeIs(1));
  SpeedupGrid grid = small_grid();
  grid.speedup[0][1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(elements_of<Contour>(plots_of(speedup_map(grid, kContext).at(0)).at(0)), IsEmpty());
}

TEST(SpeedupMap, TheLegendNamesTheContourOnlyWhereThereIsOne) {
  const std::string contour = "predicted: naive and ring equally fast";
  EXPECT_THAT(texts_of(speedup_map(small_grid(), kContext).at(0)), Contains(contour));
  SpeedupGrid grid = small_grid();
  grid.speedup = {{1.5, 2, 3}, {1.1, 2, 4}};  // One of them is the faster everywhere.
  EXPECT_THAT(texts_of(speedup_map(grid, kContext).at(0)), Not(Contains(contour)));
  EXPECT_THAT(elements_of<Contour>(plots_of(speedup_map(grid, kContext).at(0)).at(0)), IsEmpty());
}

TEST(SpeedupMap, AMatrixOfAnotherShapeIsABug) {
  SpeedupGrid grid = small_grid();
  grid.speedup.pop_back();
  EXPECT_THROW(speedup_map(grid, kContext), Bug);
}

TEST(HeatMap, CellsHoldTheirValuesWhereTheyFit) {
  LabelledMatrix matrix = samples::bandwidth_matrix(4);
  matrix.label = [](double value) { return fmt::format("{:.0f}!", value); };
  const Panel map = plots_of(heat_map(matrix, kContext).at(0)).at(0);
  EXPECT_THAT(elements_of<Boxes>(map).at(0).boxes, SizeIs(16));
  EXPECT_THAT(elements_of<Text>(map), SizeIs(12));  // The diagonal is not known.
  EXPECT_THAT(elements_of<Text>(map), Each(Field(&Text::text, testing::EndsWith("!"))));
  EXPECT_THAT(elements_of<Text>(plots_of(heat_map(samples::bandwidth_matrix(64), kContext).at(0)).at(0)),
              IsEmpty());
}

TEST(HeatMap, NoiseDoesNotUseTheWholeScale) {
  LabelledMatrix matrix = samples::bandwidth_matrix(2);
  matrix.values = {{10, 10.1}, {10.1, 10}};
  const auto boxes = elements_of<Boxes>(plots_of(heat_map(matrix, kContext).at(0)).at(0)).at(0).boxes;
  EXPECT_EQ(boxes[1].fill, sequential_color(1));
  EXPECT_EQ(boxes[0].fill, sequential_color(1 - 0.1 / (0.25 * 10.1)));
}

TEST(HeatMap, SignedValuesHaveAColourOnEitherSideOfWhite) {
  LabelledMatrix matrix = samples::bandwidth_matrix(2);
  const auto fills = [&] {
    std::vector<Color> found;
    const auto boxes = elements_of<Boxes>(plots_of(heat_map(matrix, kContext).at(0)).at(0)).at(0).boxes;
    for (const auto& box : boxes) {
      found.push_back(box.fill);
    }
    return found;
  };
  matrix.values = {{-2, 1}, {0, 4}};
  EXPECT_THAT(fills(), testing::ElementsAre(diverging_color(-0.5), diverging_color(0.25), diverging_color(0),
                                            diverging_color(1)));
}

TEST(HeatMap, RatiosOfBandwidthsHaveALogScaleOnWhichSlowIsAWarning) {
  LabelledMatrix matrix = samples::bandwidth_matrix(2);
  matrix.bandwidth_ratio = true;
  matrix.values = {{0.5, 1}, {2, 64}};
  const Figure figure = heat_map(matrix, kContext).at(0);
  const auto boxes = elements_of<Boxes>(plots_of(figure).at(0)).at(0).boxes;
  EXPECT_EQ(boxes[0].fill, diverging_color(-1.0 / 6)) << "slower is orange";
  EXPECT_EQ(boxes[1].fill, diverging_color(0));
  EXPECT_EQ(boxes[2].fill, diverging_color(1.0 / 6));
  EXPECT_EQ(boxes[3].fill, diverging_color(1)) << "faster is blue";
  for (const char* label : {"64", "8", "1", "0.125", "0.0156"}) {
    EXPECT_THAT(texts_of(figure), Contains(label));
  }
}

TEST(HeatMap, KindsHaveAColourEachAndALegendInsteadOfAScale) {
  LabelledMatrix matrix = samples::bandwidth_matrix(2);
  matrix.categories = {"naive", "direct", "ring"};
  matrix.values = {{0, 2}, {2, 0}};
  const Figure figure = heat_map(matrix, kContext).at(0);
  const auto boxes = elements_of<Boxes>(plots_of(figure).at(0)).at(0).boxes;
  EXPECT_EQ(boxes[0].fill, series_styles({"naive"}).at("naive").color);
  EXPECT_EQ(boxes[1].fill, series_styles({"ring"}).at("ring").color);
  EXPECT_EQ(boxes[2].fill, boxes[1].fill);
  const auto texts = texts_of(figure);
  EXPECT_EQ(std::count(texts.begin(), texts.end(), "ring"), 3);  // Two cells and the legend.
  EXPECT_THAT(texts, Not(Contains("direct")));                   // It is nowhere.
  EXPECT_THAT(texts, Not(Contains(matrix.value_title)));
}

TEST(HeatMap, CellsMayHaveATextOfTheirOwn) {
  LabelledMatrix matrix = samples::bandwidth_matrix(2);
  matrix.categories = {"naive", "ring"};
  matrix.values = {{0, 1}, {1, 0}};
  matrix.texts = {{"naive 1.2×", "ring 3.0×"}, {"ring 1.5×", "naive 1.1×"}};
  const auto texts = texts_of(heat_map(matrix, kContext).at(0));
  for (const char* text : {"naive 1.2×", "ring 3.0×", "ring 1.5×", "naive 1.1×"}) {
    EXPECT_THAT(texts, Contains(text));
  }
}

TEST(HeatMap, NothingKnownIsNothingDrawn) {
  LabelledMatrix matrix = samples::bandwidth_matrix(1);
  EXPECT_THAT(heat_map(matrix, kContext), IsEmpty());
}

TEST(SpeedupMap, MeasuredCellsSayByHowMuchTheirWinnerIsFaster) {
  SpeedupGrid grid = small_grid();
  grid.measured = {{2, {1024}, 0.7}, {4, {4096}, 3}};
  const std::vector<Text> winners = elements_of<Text>(plots_of(speedup_map(grid, kContext).at(0)).at(0));
  ASSERT_THAT(winners, SizeIs(2));
  EXPECT_EQ(winners[0].text, "naive 1.4×");
  EXPECT_EQ(winners[1].text, "ring 3.0×");
}

TEST(SpeedupMap, CellsMeetHalfWayAndOneAloneHasAWidth) {
  const auto boxes_of = [](const SpeedupGrid& grid) {
    return elements_of<Boxes>(plots_of(speedup_map(grid, kContext).at(0)).at(0)).at(0).boxes;
  };
  const auto boxes = boxes_of(small_grid());
  EXPECT_DOUBLE_EQ(boxes[0].right, 10.5);  // Between 2^10 and 2^11 bytes.
  EXPECT_DOUBLE_EQ(boxes[1].left, 10.5);
  const SpeedupGrid one = {
      .baseline = "naive", .candidate = "ring", .ranks = {4}, .sizes = {{1024}}, .speedup = {{2}}};
  EXPECT_DOUBLE_EQ(boxes_of(one)[0].right - boxes_of(one)[0].left, 1);
}

TEST(SpeedupMap, WhatWasNotPredictedIsGrey) {
  SpeedupGrid grid = small_grid();
  grid.speedup[0][1] = std::numeric_limits<double>::quiet_NaN();
  const auto boxes = elements_of<Boxes>(plots_of(speedup_map(grid, kContext).at(0)).at(0)).at(0).boxes;
  EXPECT_EQ(boxes[1].fill.rgb, 0xBBBBBBU);
}

TEST(SpeedupMap, EveryLabelThatFitsBehindTheLastOneIsThere) {
  SpeedupGrid grid = small_grid();
  grid.sizes.clear();
  for (auto& row : grid.speedup) {
    row.clear();
  }
  for (int i = 0; i < 40; ++i) {
    grid.sizes.push_back({1024 + 64 * i});
    for (auto& row : grid.speedup) {
      row.push_back(2);
    }
  }
  const Panel map = plots_of(speedup_map(grid, kContext).at(0)).at(0);
  const auto labelled =
      std::count_if(map.x.tics.begin(), map.x.tics.end(), [](const Tic& tic) { return !tic.label.empty(); });
  EXPECT_GE(labelled, 6);
  EXPECT_LT(labelled, 40);
}

TEST(HeatMap, SaysWhatGreyMeans) {
  EXPECT_THAT(texts_of(heat_map(samples::bandwidth_matrix(4), kContext).at(0)), Contains("not known"));
  LabelledMatrix matrix = samples::bandwidth_matrix(2);
  matrix.values = {{1, 2}, {3, 4}};
  EXPECT_THAT(texts_of(heat_map(matrix, kContext).at(0)), Not(Contains("not known")));
}

TEST(HeatMap, OneValueEverywhereIsInTheMiddleOfTheScale) {
  LabelledMatrix matrix = samples::bandwidth_matrix(2);
  matrix.values = {{0, 0}, {0, 0}};
  const auto boxes = elements_of<Boxes>(plots_of(heat_map(matrix, kContext).at(0)).at(0)).at(0).boxes;
  EXPECT_EQ(boxes[0].fill, sequential_color(0.5));
}

TEST(HeatMap, TextsStandInTheirRowAndColumn) {
  LabelledMatrix matrix = samples::bandwidth_matrix(2);
  matrix.values = {{1, 2}, {3, 4}};
  matrix.texts = {{"a", "b"}, {"c", "d"}};
  const std::vector<Text> texts = elements_of<Text>(plots_of(heat_map(matrix, kContext).at(0)).at(0));
  ASSERT_THAT(texts, SizeIs(4));
  EXPECT_EQ(texts[1].text, "b");
  EXPECT_EQ(texts[1].at.x, 1.5);
  EXPECT_EQ(texts[1].at.y, 0.5);
}

TEST(LinesOverAKey, EightValuesAreNamedAndOfNineEveryOther) {
  const auto named = [](int values) {
    KeyLines lines{.key = "inter nics", .labels = {}, .values = {}, .lines = {{"ring", {}}}};
    for (int value = 1; value <= values; ++value) {
      lines.values.push_back(value);
      lines.labels.push_back(std::to_string(value));
      lines.lines[0].seconds.push_back(1.0 / value);
    }
    return plots_of(lines_over_key(lines, "1 MiB", kContext).at(0)).at(0).x.tics;
  };
  EXPECT_THAT(named(8), SizeIs(8));
  EXPECT_THAT(named(9),
              testing::ElementsAre(Tic{1, "1"}, Tic{3, "3"}, Tic{5, "5"}, Tic{7, "7"}, Tic{9, "9"}));
}

TEST(SpeedupMap, AContourIsWhereTheWinnerChangesHoweverLittleItWins) {
  const auto contours = [](double least, double largest) {
    SpeedupGrid grid = small_grid();
    grid.speedup = {{least, 1, largest}, {least, 1, largest}};
    const Panel map = plots_of(speedup_map(grid, kContext).at(0)).at(0);
    return elements_of<Contour>(map).size();
  };
  EXPECT_EQ(contours(0.9, 1.1), 1U);
  EXPECT_EQ(contours(1, 1.1), 0U);
  EXPECT_EQ(contours(0.9, 1), 0U);
}

}  // namespace
}  // namespace ringside::plots
