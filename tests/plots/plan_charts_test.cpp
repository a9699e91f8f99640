#include "plots/charts/plan_charts.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "placed_texts.hpp"

namespace ringside::plots {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using testing::SizeIs;

const ChartContext kPlanContext{.title = "a plan", .machine = "", .source = "out/plan.jsonl"};

template <typename T>
std::size_t count_of(const Figure& figure) {
  std::size_t count = 0;
  for (const Element& element : figure.panels.back().elements) {
    count += std::holds_alternative<T>(element) ? 1U : 0U;
  }
  return count;
}

CostChart two_offers() {
  return {.points = {{.label = "cheap",
                      .seconds = {3600, 7200, 9000},
                      .cost = {1, 2, 3},
                      .pareto = true,
                      .recommended = true},
                     {.label = "fast", .seconds = {500, 600, 700}, .cost = {15, 20, 25}, .pareto = true}},
          .currency = "USD",
          .of = "the run",
          .deadline = 3000};
}

TEST(PlanCharts, NothingToShowIsNoChart) {
  EXPECT_THAT(cost_against_time({}, kPlanContext), IsEmpty());
  EXPECT_THAT(step_bars({}, kPlanContext), IsEmpty());
  EXPECT_THAT(scaling_efficiency({}, kPlanContext), IsEmpty());
  EXPECT_THAT(exposed_against_bandwidth({}, kPlanContext), IsEmpty());
}

TEST(PlanCharts, CostNamesOffersAndUnits) {
  const std::vector<Figure> figures = cost_against_time(two_offers(), kPlanContext);
  ASSERT_THAT(figures, SizeIs(1));
  EXPECT_THAT(texts_of(figures[0]), Contains("cheap"));
  EXPECT_THAT(texts_of(figures[0]), Contains("fast"));
  EXPECT_EQ(figures[0].panels.back().x.label, "time of the run (minutes)");
  EXPECT_EQ(figures[0].panels.back().y.label, "cost of the run (USD)");
  EXPECT_EQ(count_of<Marks>(figures[0]), 2U);
}

TEST(PlanCharts, WhereOffersTieNoneIsRecommended) {
  CostChart chart = two_offers();
  EXPECT_THAT(texts_of(cost_against_time(chart, kPlanContext)[0]), Contains("recommended"));
  for (CostPoint& point : chart.points) {
    point.recommended = false;
    point.tied = true;
  }
  EXPECT_THAT(texts_of(cost_against_time(chart, kPlanContext)[0]),
              testing::AllOf(Contains("tie"), testing::Not(Contains("recommended"))));
}

TEST(PlanCharts, EveryOfferWithRoomBesideItIsNamed) {
  CostChart chart = two_offers();
  for (int number = 0; number < 20; ++number) {  // Along a diagonal, and one far away from all others.
    const double factor = 1 + 0.4 * number;
    chart.points.push_back({.label = fmt::format("offer {}", number),
                            .seconds = {700 * factor, 700 * factor, 700 * factor},
                            .cost = {25 * factor, 25 * factor, 25 * factor}});
  }
  chart.points.push_back({.label = "far away", .seconds = {600, 600, 600}, .cost = {900, 900, 900}});
  const auto texts = texts_of(cost_against_time(chart, kPlanContext)[0]);
  EXPECT_THAT(texts, IsSupersetOf({"far away", "cheap", "fast", "offer 0", "offer 19"}));
}

TEST(PlanCharts, LabelsThatWouldCoverSomethingAreSkippedButThoseOfTheFrontAreNot) {
  CostChart chart = two_offers();
  for (int number = 0; number < 60; ++number) {
    chart.points.push_back(
        {.label = fmt::format("offer {}", number), .seconds = {3000, 3000, 3000}, .cost = {9, 9, 9}});
  }
  const auto texts = texts_of(cost_against_time(chart, kPlanContext)[0]);
  EXPECT_THAT(texts, IsSupersetOf({"cheap", "fast"}));
  EXPECT_THAT(texts, Not(Contains("offer 59")));
}

TEST(PlanCharts, TheRecommendedOfferIsNamedBeforeOthersWhateverTheirOrder) {
  CostChart chart = two_offers();
  chart.points.push_back({.label = "other", .seconds = {7200, 7300, 7400}, .cost = {2, 2, 2}});
  const auto place = [&] {
    const Panel panel = cost_against_time(chart, kPlanContext)[0].panels.back();
    for (const Element& element : panel.elements) {
      const auto* text = std::get_if<Text>(&element);
      if (text != nullptr && text->text == "cheap") {
        return std::pair(text->at.x, text->at.y);
      }
    }
    return std::pair(0.0, 0.0);
  };
  const auto first = place();
  EXPECT_GT(first.first, 7200) << "beside its mark";
  std::swap(chart.points.front(), chart.points.back());
  EXPECT_EQ(place(), first);
}

TEST(PlanCharts, AxesHoldEveryInterval) {
  const Panel panel = cost_against_time(two_offers(), kPlanContext)[0].panels.back();
  EXPECT_LT(panel.x.min, 500);
  EXPECT_GT(panel.x.max, 9000);
  EXPECT_LT(panel.y.min, 1);
  EXPECT_GT(panel.y.max, 25);
}

TEST(PlanCharts, PartsOfAStepStandSideBySide) {
  const Figure figure =
      step_bars({{.label = "offer", .compute = 0.01, .hidden = 0.02, .exposed = 0.01}}, kPlanContext)[0];
  const auto& boxes = std::get<Boxes>(figure.panels.back().elements.front()).boxes;
  ASSERT_THAT(boxes, SizeIs(3));
  EXPECT_DOUBLE_EQ(boxes[0].right, boxes[1].left);
  EXPECT_DOUBLE_EQ(boxes[2].right, 0.04);
  EXPECT_THAT(texts_of(figure), Contains("25 % exposed"));
  EXPECT_THAT(texts_of(figure), Not(Contains("waiting for the slowest GPU"))) << "no bar has it";
}

TEST(PlanCharts, AStepHasItsInterval) {
  const Figure figure = step_bars({{.label = "offer",
                                    .compute = 0.01,
                                    .exposed = 0.03,
                                    .whole = Interval<double>{.low = 0.02, .typical = 0.04, .high = 0.9}}},
                                  kPlanContext)[0];
  EXPECT_THAT(texts_of(figure), Contains("75 % exposed, 20 ms to 900 ms"));
  EXPECT_THAT(texts_of(figure), Contains("90 % interval"));
  EXPECT_THAT(texts_of(figure), Not(Contains("compute with communication hidden behind it")));
  EXPECT_LT(figure.panels.back().x.max, 0.17) << "the bars stay readable";
  EXPECT_THAT(unreadable_texts(figure), IsEmpty());
}

TEST(PlanCharts, TheLegendOfAStepHasNoPartThatNoBarHas) {
  const std::vector<std::string> texts =
      texts_of(step_bars({{.label = "offer", .compute = 0.01, .exposed = 0.01}}, kPlanContext)[0]);
  EXPECT_THAT(texts, IsSupersetOf({"compute", "exposed communication"}));
  EXPECT_THAT(texts, Not(Contains("compute with communication hidden behind it")));
  EXPECT_THAT(texts, Not(Contains("waiting for the slowest GPU")));
}

TEST(PlanCharts, ScalingIsALinePerOffer) {
  const std::vector<Curve> curves = {{.label = "a", .points = {{1, 1}, {2, 0.9}}},
                                     {.label = "b", .points = {{1, 1}, {8, 0.5}}}};
  const Figure figure = scaling_efficiency(curves, kPlanContext)[0];
  EXPECT_EQ(count_of<Polyline>(figure), 2U);
  EXPECT_GE(figure.panels.back().x.max, 8);
}

TEST(PlanCharts, BandwidthShowsBothThresholdsAndWhereTheOfferIs) {
  const std::vector<Curve> curves = {
      {.label = "a", .points = {{1e9, 0.9}, {1e12, 0.01}}, .mark = XY{2e10, 0.3}}};
  const Figure figure = exposed_against_bandwidth(curves, kPlanContext)[0];
  EXPECT_EQ(count_of<Polyline>(figure), 3U);
  EXPECT_EQ(count_of<Marks>(figure), 1U);
}

TEST(PlanCharts, WhatIsExposedAsOfferedHasItsInterval) {
  const std::vector<Curve> curves = {
      {.label = "a",
       .points = {{1e9, 0.9}, {1e12, 0.01}},
       .mark = XY{2e10, 0.3},
       .mark_interval = Interval<double>{.low = 0.1, .typical = 0.3, .high = 0.7}}};
  const Figure figure = exposed_against_bandwidth(curves, kPlanContext)[0];
  for (const Element& element : figure.panels.back().elements) {
    if (const auto* marks = std::get_if<Marks>(&element)) {
      EXPECT_DOUBLE_EQ(marks->marks.at(0).low, 0.1);
      EXPECT_DOUBLE_EQ(marks->marks.at(0).high, 0.7);
    }
  }
  EXPECT_THAT(texts_of(figure), Contains("as offered, 90 % interval"));
}

TEST(PlanCharts, OffersWithTheSameLinkStandSideBySide) {
  std::vector<Curve> curves(3, {.label = "a", .points = {{1e9, 0.9}, {1e12, 0.01}}, .mark = XY{2e10, 0.3}});
  curves[1].mark = XY{2e11, 0.2};
  const Figure figure = exposed_against_bandwidth(curves, kPlanContext)[0];
  std::vector<double> places;
  for (const Element& element : figure.panels.back().elements) {
    if (const auto* marks = std::get_if<Marks>(&element)) {
      places.push_back(marks->marks.at(0).x);
    }
  }
  ASSERT_EQ(places.size(), 3U);
  EXPECT_DOUBLE_EQ(places[1], 2e11) << "alone: where it belongs";
  EXPECT_GT(places[2], 1.02 * places[0]);
  EXPECT_NEAR(places[0] * places[2], 4e20, 1e12) << "around their place";
}

}  // namespace
}  // namespace ringside::plots
