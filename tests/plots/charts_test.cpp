#include "plots/charts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "placed_texts.hpp"
#include "plots/palette.hpp"
#include "samples.hpp"
#include "schedule/program/run_rounds.hpp"
#include "schedule/registry.hpp"

namespace ringside::plots {
namespace {

using samples::SweepOptions;
using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

const ChartContext kContext{
    .title = "ring or naive?", .machine = "8 × RTX 3090", .source = "out/results.jsonl"};

template <typename T>
std::vector<T> elements_of(const Panel& panel) {
  std::vector<T> result;
  for (const Element& element : panel.elements) {
    if (const T* value = std::get_if<T>(&element)) {
      result.push_back(*value);
    }
  }
  return result;
}

/// Panels with axes: all but the first, which holds title, legend and footer.
std::vector<Panel> plots_of(const Figure& figure) { return {figure.panels.begin() + 1, figure.panels.end()}; }

std::vector<std::string> names_of(const std::vector<Figure>& figures) {
  std::vector<std::string> names;
  for (const Figure& figure : figures) {
    names.push_back(figure.name);
  }
  return names;
}

std::size_t num_marks(const Panel& panel) {
  std::size_t count = 0;
  for (const Marks& marks : elements_of<Marks>(panel)) {
    count += marks.marks.size();
  }
  return count;
}

Point point(const std::string& algorithm, int ranks, std::int64_t bytes, double predicted, double measured) {
  Point result{
      .key = {.algorithm = algorithm, .ranks = ranks, .bytes = {bytes}}, .predicted = {}, .measured = {}};
  result.predicted = Prediction{.seconds = {predicted}, .low = {}, .high = {}};
  result.measured = Measurement{.seconds = {measured}, .low = {measured}, .high = {measured}};
  return result;
}

// ---- Every chart ---------------------------------------------------------------------------------------

std::vector<Figure> make_samples() {
  std::vector<Figure> figures;
  const auto add = [&](const std::vector<Figure>& more) {
    figures.insert(figures.end(), more.begin(), more.end());
  };
  const std::vector<std::string> seven = {
      "naive", "tutorial_ring", "ring", "binomial_tree", "double_binary_tree", "hierarchical", "native"};
  const std::vector<SweepOptions> sweeps = {
      {.ranks = {4}},
      {.ranks = {2, 8}},
      {},
      {.algorithms = seven, .ranks = {2, 4, 8, 16}},
      {.ranks = {2, 3, 4, 6, 8}},
      {.ranks = {2, 3, 4, 6, 8, 16, 32}},
      {.ranks = {8}, .measured = false},
      {.ranks = {8}, .predicted = false},
      {.ranks = {2, 4}, .from = 88'000'000, .to = 88'000'000},
      {.ranks = {2}, .from = 88'000'000, .to = 88'000'000 + 5'000'000, .factor = 2},
      {.algorithms = {"ring"}, .ranks = {4}},
      {.ranks = {2, 4096}, .from = 1, .to = std::int64_t{64} << 30, .factor = 8},
  };
  for (const SweepOptions& sweep : sweeps) {
    const std::vector<Point> points = samples::sweep(sweep);
    add(time_vs_size(points, kContext, samples::crossovers(sweep)));
    add(ratio(points, kContext));
    add(bus_bandwidth(points, kContext, BandwidthLimit{.rate = {12.5e9}, .label = "PCIe 4.0 x8"}));
  }
  add(speedup_map(samples::speedup_grid(true), kContext));
  for (const int ranks : {2, 8, 64}) {
    add(heat_map(samples::bandwidth_matrix(ranks), kContext));
  }
  for (const int ranks : {2, 3, 4, 8, 16}) {
    add(schedule_diagram(samples::ring_schedule(ranks), kContext));
  }
  for (const int ranks : {2, 4}) {
    add(schedule_diagram(samples::direct_schedule(ranks), kContext));
    add(timeline(samples::ring_timeline(ranks), kContext));
  }
  add(timeline(samples::ring_timeline(32), kContext));
  for (const int ranks : {2, 4, 16}) {
    add(timelines(
        {{"predicted: 1.23 ms (replay, 24 events)", samples::ring_timeline(ranks)},
         {"measured: 1.45 ms (gloo, the median of 25 runs, 36 events)", samples::ring_timeline(ranks)}},
        kContext));
    add(timelines({{"predicted: 1.23 ms (replay, 24 events)", samples::ring_timeline(ranks)}}, kContext));
  }
  add(topology_graph(samples::two_nodes(), kContext));
  add(topology_graph(samples::pcie_host(), kContext));
  return figures;
}

const std::vector<Figure>& all_samples() {
  static const std::vector<Figure> samples = make_samples();
  return samples;
}

TEST(EveryChart, HasNoTextThatCoversAnotherOrLeavesThePage) {
  const std::vector<Figure>& figures = all_samples();
  ASSERT_GT(figures.size(), 40U);
  for (const Figure& figure : figures) {
    EXPECT_THAT(unreadable_texts(figure), IsEmpty());
  }
}

TEST(EveryChart, IsWideEnoughAndNamesItsSourceAndMachine) {
  for (const Figure& figure : all_samples()) {
    EXPECT_EQ(figure.width, 1200);
    EXPECT_THAT(texts_of(figure), Contains(AllOf(HasSubstr("out/results.jsonl"), HasSubstr("8 × RTX 3090"))))
        << figure.name;
    EXPECT_THAT(texts_of(figure), Contains("ring or naive?")) << figure.name;
  }
}

TEST(EveryChart, OfNothingIsNothing) {
  EXPECT_THAT(time_vs_size({}, kContext), IsEmpty());
  EXPECT_THAT(ratio({}, kContext), IsEmpty());
  EXPECT_THAT(bus_bandwidth({}, kContext), IsEmpty());
  EXPECT_THAT(speedup_map({}, kContext), IsEmpty());
  EXPECT_THAT(heat_map({}, kContext), IsEmpty());
  EXPECT_THAT(timeline({}, kContext), IsEmpty());
  EXPECT_THAT(topology_graph({}, kContext), IsEmpty());
}

// ---- Points --------------------------------------------------------------------------------------------

TEST(TimeVsSize, PredictionsAreLinesAndMeasurementsAreMarks) {
  const auto figures =
      time_vs_size(samples::sweep({.algorithms = {"naive", "ring"}, .ranks = {4}}), kContext);
  ASSERT_THAT(figures, SizeIs(1));
  const Panel panel = plots_of(figures[0]).at(0);
  EXPECT_EQ(panel.title, "4 ranks");
  EXPECT_THAT(elements_of<Polyline>(panel), Each(Field(&Polyline::points, SizeIs(10))));
  EXPECT_THAT(elements_of<Band>(panel), Each(Field(&Band::points, SizeIs(10))));
  EXPECT_EQ(num_marks(panel), 20U);
  EXPECT_EQ(elements_of<Marks>(panel).at(1).style.color, kBlue);
}

TEST(TimeVsSize, WorksWithOneSideAlone) {
  const Panel predicted =
      plots_of(time_vs_size(samples::sweep({.ranks = {4}, .measured = false}), kContext).at(0)).at(0);
  EXPECT_EQ(num_marks(predicted), 0U);
  EXPECT_THAT(elements_of<Polyline>(predicted), Each(Field(&Polyline::points, SizeIs(10))));
  const auto figures = time_vs_size(samples::sweep({.ranks = {4}, .predicted = false}), kContext);
  const Panel measured = plots_of(figures.at(0)).at(0);
  EXPECT_EQ(num_marks(measured), 30U);
  EXPECT_THAT(elements_of<Polyline>(measured), Each(Field(&Polyline::points, IsEmpty())));
  EXPECT_THAT(texts_of(figures.at(0)), Not(Contains(HasSubstr("predicted"))));
}

TEST(TimeVsSize, FailedAndMissingPointsAreAbsent) {
  std::vector<Point> points = {point("ring", 4, 1024, 1e-5, 2e-5), point("ring", 4, 4096, 2e-5, 3e-5),
                               point("ring", 4, 8192, 3e-5, 4e-5)};
  points[0].measured->outcome = Outcome::failed;
  points[1].measured = std::nullopt;
  points[2].predicted = std::nullopt;
  points.push_back(
      {.key = {.algorithm = "ring", .ranks = 8, .bytes = {1024}}, .predicted = {}, .measured = {}});
  const auto figures = time_vs_size(points, kContext);
  ASSERT_THAT(plots_of(figures.at(0)), SizeIs(1));  // Nothing is known of 8 ranks.
  const Panel panel = plots_of(figures[0])[0];
  EXPECT_EQ(num_marks(panel), 1U);
  EXPECT_THAT(elements_of<Polyline>(panel).at(0).points, SizeIs(2));
}

TEST(TimeVsSize, WhatALogAxisCannotShowIsSkipped) {
  EXPECT_THAT(time_vs_size({point("ring", 1, 1024, 0, 0), point("ring", 2, 0, 1, 1)}, kContext), IsEmpty());
  std::vector<Point> points = {point("ring", 2, 1024, 1e-5, 1e-5)};
  points[0].predicted->low = Seconds{0};
  points[0].predicted->high = Seconds{2e-5};
  const Panel panel = plots_of(time_vs_size(points, kContext).at(0)).at(0);
  EXPECT_DOUBLE_EQ(elements_of<Band>(panel).at(0).points.at(0).low, panel.y.min);
}

TEST(TimeVsSize, OfSeveralPointsAtOneSizeTheLastCounts) {
  const auto figures = time_vs_size({point("ring", 2, 1024, 1, 1), point("ring", 2, 1024, 2, 3)}, kContext);
  const Panel panel = plots_of(figures.at(0)).at(0);
  ASSERT_EQ(num_marks(panel), 1U);
  EXPECT_EQ(elements_of<Marks>(panel)[0].marks[0].y, 3);
}

TEST(TimeVsSize, SevenNumbersOfRanksTakeTwoFiles) {
  const auto figures = time_vs_size(samples::sweep({.ranks = {2, 3, 4, 6, 8, 16, 32}}), kContext);
  EXPECT_THAT(names_of(figures), ElementsAre("time_vs_size", "time_vs_size_2"));
  EXPECT_THAT(plots_of(figures[0]), SizeIs(6));
  EXPECT_THAT(plots_of(figures[1]), SizeIs(1));
  EXPECT_THAT(texts_of(figures[1]), Contains(HasSubstr("page 2 of 2")));
}

TEST(TimeVsSize, PanelsShareTheirAxes) {
  const std::vector<Panel> panels =
      plots_of(time_vs_size(samples::sweep({.ranks = {2, 64}}), kContext).at(0));
  EXPECT_EQ(panels.at(0).y.min, panels.at(1).y.min);
  EXPECT_EQ(panels.at(0).y.max, panels.at(1).y.max);
  EXPECT_EQ(panels.at(0).x.max, panels.at(1).x.max);
}

TEST(TimeVsSize, CollectivesGetFilesOfTheirOwn) {
  std::vector<Point> points = {point("ring", 2, 1024, 1, 1), point("ring", 2, 1024, 2, 2)};
  points[1].key.collective = Collective::all_gather;
  EXPECT_THAT(names_of(time_vs_size(points, kContext)),
              ElementsAre("time_vs_size_all_reduce", "time_vs_size_all_gather"));
  points.push_back(points[1]);
  points[2].key.dtype = DataType::float64;
  EXPECT_THAT(names_of(time_vs_size(points, kContext)),
              ElementsAre("time_vs_size_all_reduce_float32", "time_vs_size_all_gather_float32",
                          "time_vs_size_all_gather_float64"));
}

TEST(TimeVsSize, CrossoversAreVerticalLinesWithLabelsAboveAllData) {
  const SweepOptions options{.algorithms = {"naive", "ring"}, .ranks = {4}};
  const Crossover crossover{.ranks = 4,
                            .baseline = "naive",
                            .candidate = "ring",
                            .predicted_bytes = Bytes{65536},
                            .measured_bytes = Bytes{131072},
                            .predicted_winner = "ring",
                            .measured_winner = {}};
  const auto figures = time_vs_size(samples::sweep(options), kContext, {crossover});
  const Panel panel = plots_of(figures.at(0)).at(0);
  std::vector<double> vertical;
  for (const Polyline& line : elements_of<Polyline>(panel)) {
    if (line.points.size() == 2 && line.points[0].x == line.points[1].x) {
      vertical.push_back(line.points[0].x);
    }
  }
  EXPECT_THAT(vertical, ElementsAre(65536, 131072));
  const std::vector<Text> labels = elements_of<Text>(panel);
  ASSERT_THAT(labels, SizeIs(2));
  EXPECT_EQ(labels[0].text, "predicted: ring beats naive above 64 KiB");
  EXPECT_EQ(labels[1].text, "measured: naive = ring at 128 KiB");
  double highest = 0;
  for (const Band& band : elements_of<Band>(panel)) {
    for (const Band::At& at : band.points) {
      highest = std::max(highest, at.high);
    }
  }
  EXPECT_GT(std::min(labels[0].at.y, labels[1].at.y), highest);
}

TEST(TimeVsSize, CrossoversOfOtherRanksAndSizesAreNotDrawn) {
  const SweepOptions options{.ranks = {4}};
  const Crossover other_ranks{
      .ranks = 8, .baseline = "naive", .candidate = "ring", .predicted_bytes = Bytes{65536}};
  const Crossover too_small{
      .ranks = 4, .baseline = "naive", .candidate = "ring", .predicted_bytes = Bytes{12}};
  const Crossover none{.ranks = 4, .baseline = "naive", .candidate = "ring"};
  const auto figures = time_vs_size(samples::sweep(options), kContext, {other_ranks, too_small, none});
  EXPECT_THAT(elements_of<Text>(plots_of(figures.at(0)).at(0)), IsEmpty());
}

TEST(TimeVsSize, OneSizeSpreadsAlgorithmsSideways) {
  const auto figures =
      time_vs_size({point("naive", 2, 88'000'000, 1, 1), point("ring", 2, 88'000'000, 1, 1)}, kContext);
  const Panel panel = plots_of(figures.at(0)).at(0);
  const std::vector<Marks> marks = elements_of<Marks>(panel);
  EXPECT_LT(marks.at(0).marks.at(0).x, 88e6);
  EXPECT_GT(marks.at(1).marks.at(0).x, 88e6);
  EXPECT_THAT(panel.x.tics, ElementsAre(Tic{88e6, "88 MB"}));
}

TEST(Ratio, IsPredictedOverMeasured) {
  const auto figures =
      ratio({point("ring", 2, 1024, 3e-5, 2e-5), point("ring", 2, 2048, 1e-5, 2e-5)}, kContext);
  const Panel panel = plots_of(figures.at(0)).at(0);
  const std::vector<Marks> marks = elements_of<Marks>(panel);
  ASSERT_THAT(marks.at(0).marks, SizeIs(2));
  EXPECT_DOUBLE_EQ(marks[0].marks[0].y, 1.5);
  EXPECT_DOUBLE_EQ(marks[0].marks[1].y, 0.5);
  EXPECT_NEAR(panel.y.min * panel.y.max, 1, 1e-12);
}

TEST(Ratio, NeedsBothSides) {
  EXPECT_THAT(ratio(samples::sweep({.measured = false}), kContext), IsEmpty());
  EXPECT_THAT(ratio(samples::sweep({.predicted = false}), kContext), IsEmpty());
}

TEST(BusBandwidth, IsThatOfNcclTests) {
  // 1 GiB among 4 ranks in 1 s: algbw 1.0737 GB/s, busbw 1.5 times that.
  const auto figures = bus_bandwidth({point("ring", 4, std::int64_t{1} << 30, 2, 1)}, kContext);
  const Panel panel = plots_of(figures.at(0)).at(0);
  EXPECT_DOUBLE_EQ(elements_of<Marks>(panel).at(0).marks.at(0).y, 1.5 * 1073741824.0);
  EXPECT_EQ(panel.y.label, "bus bandwidth (GB/s)");
}

TEST(BusBandwidth, FollowsTheCollective) {
  Point gather = point("ring", 4, 1'000'000, 1, 1);
  gather.key.collective = Collective::all_gather;
  EXPECT_DOUBLE_EQ(
      elements_of<Marks>(plots_of(bus_bandwidth({gather}, kContext).at(0)).at(0)).at(0).marks.at(0).y,
      750'000);
  Point broadcast = point("ring", 4, 1'000'000, 1, 1);
  broadcast.key.collective = Collective::broadcast;
  EXPECT_DOUBLE_EQ(
      elements_of<Marks>(plots_of(bus_bandwidth({broadcast}, kContext).at(0)).at(0)).at(0).marks.at(0).y,
      1'000'000);
}

TEST(BusBandwidth, ALimitInReachIsDrawnAndOneFarAboveIsSaid) {
  const std::vector<Point> points = {point("ring", 4, 1'000'000'000, 1, 1)};  // 1.5 GB/s.
  const auto near = bus_bandwidth(points, kContext, BandwidthLimit{.rate = {2e9}, .label = "PCIe"});
  EXPECT_THAT(elements_of<Polyline>(plots_of(near.at(0)).at(0)).at(0).points, Each(Field(&XY::y, 2e9)));
  EXPECT_GT(plots_of(near.at(0)).at(0).y.max, 2e9);
  const auto far = bus_bandwidth(points, kContext, BandwidthLimit{.rate = {900e9}, .label = "NVLink"});
  EXPECT_LT(plots_of(far.at(0)).at(0).y.max, 2e9);
  EXPECT_THAT(texts_of(far.at(0)), Contains("limit: NVLink 900 GB/s (above this chart)"));
}

// ---- Maps ----------------------------------------------------------------------------------------------

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
  EXPECT_EQ(winners[0].text, "naive");
  EXPECT_EQ(winners[1].text, "ring");
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

// ---- Diagrams ------------------------------------------------------------------------------------------

std::size_t num_arrows(const Figure& figure) {
  std::size_t count = 0;
  for (const Arrows& arrows : elements_of<Arrows>(figure.panels.back())) {
    count += arrows.arrows.size();
  }
  return count;
}

TEST(ScheduleDiagram, HasAnArrowPerTransfer) {
  EXPECT_EQ(num_arrows(schedule_diagram(samples::ring_schedule(4), kContext).at(0)), 6U * 4U);
  EXPECT_EQ(num_arrows(schedule_diagram(samples::ring_schedule(8), kContext).at(0)), 14U * 8U);
}

TEST(ScheduleDiagram, OfEveryAlgorithmIsReadable) {
  for (const Algorithm& algorithm : all_algorithms()) {
    for (const int ranks : {2, 4, 5, 8}) {
      const ScheduleRequest request{.collective = algorithm.collective, .num_ranks = ranks};
      if (algorithm.unsupported == nullptr || !algorithm.unsupported(request)) {
        for (const Figure& figure : schedule_diagram({algorithm, request}, kContext)) {
          EXPECT_THAT(unreadable_texts(figure), IsEmpty()) << algorithm.name << " with " << ranks << " ranks";
        }
      }
    }
  }
}

TEST(ScheduleDiagram, CopyAndReduceDifferInColourAndDash) {
  std::set<std::uint32_t> colors;
  std::set<Dash> dashes;
  for (const Arrows& arrows :
       elements_of<Arrows>(schedule_diagram(samples::ring_schedule(3), kContext).at(0).panels.back())) {
    colors.insert(arrows.stroke.color.rgb);
    dashes.insert(arrows.stroke.dash);
  }
  EXPECT_THAT(colors, SizeIs(2));
  EXPECT_THAT(dashes, SizeIs(2));
}

TEST(ScheduleDiagram, NamesChunksRoundsAndScratchBuffers) {
  const Figure figure = schedule_diagram(samples::direct_schedule(3), kContext).at(0);
  EXPECT_EQ(figure.name, "schedule_direct_two_shot_3_ranks");
  EXPECT_THAT(texts_of(figure),
              testing::IsSupersetOf({"round 1", "round 2", "rank 2", "0→s1", "s1: scratch buffer 1"}));
}

RunRounds ring_in_segments() {
  return {samples::ring_schedule(4),
          {.num_elements = 1 << 20},
          {.receives_ahead = true, .segments = 6, .stride = 4, .in_flight = 4}};
}

TEST(ProgramDiagram, NamesSegmentsAndMarksReceivesThatArePostedAhead) {
  const Figure figure = program_diagram(ring_in_segments(), kContext).at(0);
  EXPECT_EQ(figure.name, "program_ring_4_ranks");
  EXPECT_THAT(texts_of(figure), testing::IsSupersetOf({"3.0", "receive posted in an earlier round",
                                                       "2.5 on an arrow: chunk 2, segment 5"}));
  EXPECT_THAT(unreadable_texts(figure), IsEmpty());
  EXPECT_THAT(texts_of(figure), testing::Contains(HasSubstr("each chunk in 6 segments, 4 in flight")));
}

TEST(ProgramDiagram, TransfersBetweenTheSameRanksLieSideBySide) {
  const Figure figure = program_diagram(ring_in_segments(), kContext).at(0);
  std::set<std::pair<double, double>> starts;
  std::size_t arrows = 0;
  for (const Arrows& drawn : elements_of<Arrows>(figure.panels.back())) {
    for (const Arrows::Arrow& arrow : drawn.arrows) {
      starts.insert({arrow.from.x, arrow.from.y});
      ++arrows;
    }
  }
  EXPECT_THAT(starts, SizeIs(arrows));
}

TEST(ScheduleDiagram, TooManyRanksAreAnErrorThatSaysTheLimit) {
  try {
    schedule_diagram(samples::ring_schedule(17), kContext);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    EXPECT_THAT(error.what(), HasSubstr("at most 16 ranks"));
  }
}

TEST(Timeline, BarsAreInTheirTracksAndOverlapsGetLanes) {
  const std::vector<TimelineBar> bars = {{"rank 0", {0}, {2e-6}, "a", "transfer"},
                                         {"rank 1", {1e-6}, {3e-6}, "b", "transfer"},
                                         {"rank 0", {1e-6}, {4e-6}, "c", "reduce"}};
  const Panel panel = plots_of(timeline(bars, kContext).at(0)).at(0);
  EXPECT_THAT(panel.y.tics, ElementsAre(Tic{0.5, "rank 0"}, Tic{1.5, "rank 1"}));
  EXPECT_EQ(panel.x.label, "time (us)");
  const auto boxes = elements_of<Boxes>(panel).at(0).boxes;
  ASSERT_THAT(boxes, SizeIs(3));
  EXPECT_LE(boxes[0].high, boxes[1].low + 1e-12);  // Both of rank 0, one below the other.
  EXPECT_EQ(boxes[0].left, 0);
  EXPECT_EQ(boxes[0].right, 2e-6);
  EXPECT_NE(boxes[0].fill, boxes[1].fill);
}

TEST(Timeline, NeighboursInTimeShareALane) {
  const std::vector<TimelineBar> bars = {{"rank 0", {0}, {0.1}, "", "transfer"},
                                         {"rank 0", {0.1}, {0.3}, "", "transfer"}};
  const auto boxes = elements_of<Boxes>(plots_of(timeline(bars, kContext).at(0)).at(0)).at(0).boxes;
  EXPECT_EQ(boxes[0].low, boxes[1].low);
}

TEST(Timeline, SeveralRunsStandBeneathEachOtherOnOneTimeAxis) {
  const std::vector<TimelinePart> parts = {{"predicted: 2 us", {{"rank 0", {0}, {2e-6}, "a", "transfer"}}},
                                           {"nothing", {}},
                                           {"measured: 5 us", {{"rank 0", {1e-6}, {5e-6}, "b", "reduce"}}}};
  const std::vector<Panel> panels = plots_of(timelines(parts, kContext).at(0));
  ASSERT_THAT(panels, SizeIs(2));
  EXPECT_EQ(panels[0].title, "predicted: 2 us");
  EXPECT_EQ(panels[1].title, "measured: 5 us");
  EXPECT_EQ(panels[0].x.max, panels[1].x.max);
  EXPECT_GE(panels[0].x.max, 5e-6);
  EXPECT_LT(panels[0].area.top + panels[0].area.height, panels[1].area.top);
  EXPECT_EQ(panels[0].area.left, panels[1].area.left);
  EXPECT_FALSE(panels[0].x.show_tic_labels);
  EXPECT_EQ(panels[1].x.label, "time (us)");
}

TEST(Timeline, MoreTracksThanFitAreSaidToBeMissing) {
  std::vector<TimelineBar> bars;
  for (int track = 0; track < 70; ++track) {
    bars.push_back({fmt::format("rank {}", track), {0}, {1}, "", "transfer"});
  }
  const Figure figure = timeline(bars, kContext).at(0);
  EXPECT_THAT(plots_of(figure).at(0).y.tics, SizeIs(64));
  EXPECT_THAT(texts_of(figure), Contains(HasSubstr("first 64 of 70 rows")));
}

TEST(TopologyGraph, FasterLinksAreWider) {
  const Figure figure = topology_graph(samples::pcie_host(), kContext).at(0);
  std::map<std::uint32_t, double> widths;
  for (const Polyline& line : elements_of<Polyline>(figure.panels.back())) {
    widths[line.stroke.color.rgb] = line.stroke.width;
  }
  ASSERT_THAT(widths, SizeIs(4));
  EXPECT_GT(widths.at(kGreen.rgb), widths.at(kBlue.rgb));         // NVLink and PCIe 4.0.
  EXPECT_GT(widths.at(kBlue.rgb), widths.at(kOrange.rgb));        // PCIe 4.0 and 3.0.
  EXPECT_GT(widths.at(kOrange.rgb), widths.at(kVermillion.rgb));  // PCIe 3.0 and peer to peer.
}

TEST(TopologyGraph, FewEdgesAreLabelledAndManyGoToTheLegend) {
  EXPECT_THAT(texts_of(topology_graph(samples::pcie_host(), kContext).at(0)),
              Contains("PCIe 4.0 x16").Times(4));
  EXPECT_THAT(texts_of(topology_graph(samples::two_nodes(), kContext).at(0)),
              Contains("NVLink 3 300 GB/s").Times(1));
}

TEST(TopologyGraph, AnUnknownNodeIsABug) {
  TopologyGraph graph = samples::pcie_host();
  graph.edges.push_back({"gpu0", "nowhere", "?", {1}});
  EXPECT_THROW(topology_graph(graph, kContext), Bug);
}

TEST(Charts, ADifferentExecutionPolicyIsInTheLegendOfWhatShowsBoth) {
  std::vector<Point> points = samples::sweep({});
  const auto says = [&] {
    std::vector<bool> found;
    for (const auto& figures : {time_vs_size(points, kContext), ratio(points, kContext)}) {
      const std::vector<std::string> texts = texts_of(figures.front());
      found.push_back(std::any_of(texts.begin(), texts.end(), [](const std::string& text) {
        return text.find("another execution policy than predicted") != std::string::npos;
      }));
      EXPECT_THAT(unreadable_texts(figures.front()), IsEmpty());
    }
    return found;
  };
  for (Point& point : points) {
    point.predicted->policy = ExecutionPolicy{};
    point.measured->policy = ExecutionPolicy{};
  }
  EXPECT_THAT(says(), ElementsAre(false, false));
  points.front().measured->policy->segments = 4;
  EXPECT_THAT(says(), ElementsAre(true, true));
}

}  // namespace
}  // namespace ringside::plots
