// 400 lines: each chart of points, and what it draws of odd ones.
#include "plots/charts/charts.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "plots/drawing/palette.hpp"
#include "tests/plots/figure_parts.hpp"
#include "tests/plots/placed_texts.hpp"
#include "tests/plots/samples.hpp"

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
using testing::ThrowsMessage;

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
    add(timelines({{"", samples::ring_timeline(ranks)}}, kContext));
  }
  add(timelines({{"", samples::ring_timeline(32)}}, kContext));
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

TEST(PageText, AnAbsolutePathIsNoSource) {
  const auto footer = [](const char* source) {
    return page_text({.title = "", .machine = "", .source = source}, "").footer;
  };
  EXPECT_EQ(footer("/home/somebody/out/quickstart/results.jsonl"), "source: quickstart/results.jsonl");
  EXPECT_EQ(footer("out/results.jsonl"), "source: out/results.jsonl");
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
  EXPECT_THAT(timelines({}, kContext), IsEmpty());
  EXPECT_THAT(topology_graph({}, kContext), IsEmpty());
}

TEST(EveryChart, OfTimesThatAreNoMachinesIsRefused) {
  for (const double seconds : {5e-324, 1e-31, 1e31, 1e305}) {
    std::vector<Point> points = samples::sweep();
    points.at(1).predicted->seconds.value = seconds;
    for (const auto& draw : {+[](const std::vector<Point>& some) { return time_vs_size(some, {}, {}); },
                             +[](const std::vector<Point>& some) { return ratio(some, {}); },
                             +[](const std::vector<Point>& some) { return bus_bandwidth(some, {}, {}); }}) {
      EXPECT_THAT([&] { draw(points); }, ThrowsMessage<Error>(HasSubstr("which no chart can show")));
    }
  }
}

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

TEST(TimeVsSize, CountsInMegabytesWhereTheSizesDo) {
  const auto label_at = [](std::int64_t from, std::int64_t factor, double place) -> std::string {
    const auto figures = time_vs_size(
        samples::sweep({.ranks = {4}, .from = from, .to = 100 * from * from, .factor = factor}), kContext);
    const Panel panel = plots_of(figures.at(0)).at(0);
    for (const Tic& tic : panel.x.tics) {
      if (tic.at == place) {
        return tic.label;
      }
    }
    return "no tic";
  };
  EXPECT_EQ(label_at(1000, 10, 1e6), "1 MB");
  EXPECT_EQ(label_at(1024, 4, 1 << 20), "1 MiB");
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
  EXPECT_THAT(elements_of<Polyline>(figures.at(0).panels.at(0)), IsEmpty()) << "no lines in the legend";
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
  EXPECT_GT(panel.y.min, 1e-6);
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
  EXPECT_THAT(texts_of(time_vs_size(points, kContext).at(2)), Contains(HasSubstr("all_gather of float64")));
}

TEST(TimeVsSize, PanelsStandInTheOrderOfTheirRanks) {
  const auto figures = time_vs_size({point("ring", 8, 1024, 1, 1), point("ring", 2, 1024, 1, 1)}, kContext);
  EXPECT_EQ(plots_of(figures.at(0)).at(0).title, "2 ranks");
  EXPECT_EQ(plots_of(figures.at(0)).at(1).title, "8 ranks");
}

TEST(TimeVsSize, OnePredictedPointIsAShortLine) {
  const auto figures = time_vs_size({point("ring", 2, 1024, 1, 1)}, kContext);
  const auto lines = elements_of<Polyline>(plots_of(figures.at(0)).at(0));
  ASSERT_THAT(lines.at(0).points, SizeIs(2));
  EXPECT_LT(lines[0].points[0].x, 1024);
  EXPECT_GT(lines[0].points[1].x, 1024);
  EXPECT_EQ(lines[0].points[0].y, lines[0].points[1].y);
}

TEST(TimeVsSize, DashedLinesAreDrawnOverSolidOnes) {
  // Where both are the same, the solid one shows between the dashes.
  const auto figures = time_vs_size(samples::sweep({.ranks = {4}}), kContext);
  const auto lines = elements_of<Polyline>(plots_of(figures.at(0)).at(0));
  const auto solid = [](const Polyline& line) { return line.stroke.dash == Dash::solid; };
  EXPECT_TRUE(std::is_partitioned(lines.begin(), lines.end(), solid));
  EXPECT_TRUE(solid(lines.front()));
  EXPECT_FALSE(solid(lines.back()));
}

TEST(TimeVsSize, TheLegendShowsABarWhereMeasurementsHaveOne) {
  const auto figures = time_vs_size(samples::sweep({.ranks = {4}}), kContext);
  const std::vector<Marks> legend = elements_of<Marks>(figures.at(0).panels.at(0));
  const Marks::Mark& measured = legend.back().marks.at(0);
  EXPECT_LT(measured.low, measured.y);
  EXPECT_GT(measured.high, measured.y);
}

TEST(TimeVsSize, FittedCurvesStandWithTheirNumberOfRanks) {
  const std::vector<Point> points = samples::sweep({.algorithms = {"ring"}, .ranks = {2, 4}});
  FittedCurve curve;
  curve.key = {.algorithm = "ring", .ranks = 4, .bytes = {1024}};
  curve.latency = {1e-5};
  curve.inverse_bandwidth = {1e-10};
  const std::vector<Panel> panels = plots_of(time_vs_size(points, kContext, {}, {curve}).at(0));
  EXPECT_THAT(elements_of<Polyline>(panels.at(0)), SizeIs(1));
  EXPECT_THAT(elements_of<Polyline>(panels.at(1)), SizeIs(2));
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
  std::vector<Dash> dashes;
  for (const Polyline& line : elements_of<Polyline>(panel)) {
    if (line.points.size() == 2 && line.points[0].x == line.points[1].x) {
      vertical.push_back(line.points[0].x);
      dashes.push_back(line.stroke.dash);
    }
  }
  EXPECT_THAT(vertical, ElementsAre(65536, 131072));
  EXPECT_THAT(dashes, ElementsAre(Dash::dashed, Dash::dotted));
  const std::vector<Text> labels = elements_of<Text>(panel);
  ASSERT_THAT(labels, SizeIs(2));
  EXPECT_EQ(labels[0].text, "predicted: ring beats naive above 64 KiB");
  EXPECT_EQ(labels[1].text, "measured: naive and ring cross at 128 KiB, no clear winner above");
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

TEST(TimeVsSize, FewSizesSpreadMeasurementsAndNotPredictions) {
  std::vector<Point> points;
  for (const std::int64_t bytes : {1'000, 8'000, 80'000}) {
    points.push_back(point("naive", 2, bytes, 1, 1));
    points.push_back(point("ring", 2, bytes, 1, 1));
  }
  const Panel panel = plots_of(time_vs_size(points, kContext).at(0)).at(0);
  const std::vector<Marks> marks = elements_of<Marks>(panel);
  EXPECT_LT(marks.at(0).marks.at(1).x, 8e3);
  EXPECT_GT(marks.at(1).marks.at(1).x, 8e3);
  for (const Polyline& line : elements_of<Polyline>(panel)) {
    EXPECT_EQ(line.points.at(1).x, 8e3);
  }
}

TEST(TimeVsSize, MoreThanThreeIntervalsAreLines) {
  samples::SweepOptions options{.algorithms = {"naive", "tutorial_ring", "ring"}, .ranks = {4}};
  EXPECT_THAT(elements_of<Band>(plots_of(time_vs_size(samples::sweep(options), kContext).at(0)).at(0)),
              SizeIs(3));
  options.algorithms.emplace_back("direct");
  const Figure figure = time_vs_size(samples::sweep(options), kContext).at(0);
  EXPECT_THAT(elements_of<Band>(plots_of(figure).at(0)), IsEmpty());
  EXPECT_THAT(elements_of<Polyline>(plots_of(figure).at(0)), SizeIs(4 + 2 * 4));
  EXPECT_THAT(texts_of(figure), Contains("predicted; thin: 90 % interval"));
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
  EXPECT_LT(panel.y.min, 0.5);
}

TEST(Ratio, BarsAreTheOtherWayRoundThanTheTimesMeasured) {
  std::vector<Point> points = {point("ring", 2, 1024, 2e-5, 2e-5), point("ring", 2, 2048, 2e-5, 2e-5)};
  points[0].measured->low = {1.8e-5};
  points[0].measured->high = {2.2e-5};
  points[1].measured->low = {0};
  const Panel panel = plots_of(ratio(points, kContext).at(0)).at(0);
  const Marks marks = elements_of<Marks>(panel).at(0);
  EXPECT_DOUBLE_EQ(marks.marks.at(0).low, 2 / 2.2);
  EXPECT_DOUBLE_EQ(marks.marks.at(0).high, 2 / 1.8);
  EXPECT_DOUBLE_EQ(marks.marks.at(1).high, panel.y.max) << "a time of nothing is infinitely fast";
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

TEST(BusBandwidth, OfOneRankIsNothing) {
  EXPECT_THAT(bus_bandwidth({point("ring", 1, 1'000'000, 1, 1)}, kContext), IsEmpty());
}

TEST(BusBandwidth, IntervalsEndAtTheEdgeOfTheChart) {
  std::vector<Point> points = {point("ring", 4, 1'000'000, 1, 1), point("ring", 4, 2'000'000, 1, 1)};
  points[0].predicted->low = Seconds{0.5};
  points[0].predicted->high = Seconds{2};
  points[0].measured->low = {0};
  points[1].measured->low = {0.01};
  const Panel panel = plots_of(bus_bandwidth(points, kContext).at(0)).at(0);
  const Marks marks = elements_of<Marks>(panel).at(0);
  EXPECT_EQ(marks.marks.at(0).high, panel.y.max);
  EXPECT_EQ(marks.marks.at(1).high, panel.y.max);
  const Band band = elements_of<Band>(panel).at(0);
  EXPECT_LT(band.points.at(0).low, band.points.at(0).high);
}

}  // namespace
}  // namespace ringside::plots
