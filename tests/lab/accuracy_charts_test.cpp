#include "lab/charts/accuracy_charts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plots/drawing/palette.hpp"

namespace ringside::plots {
namespace {

EvaluatedSystem system_of(const std::string& name, MachineClass machine_class, double factor,
                          Collective collective = Collective::all_reduce) {
  EvaluatedSystem system;
  system.collective = collective;
  system.name = name;
  system.group = name;
  system.machine_class = machine_class;
  for (const std::int64_t bytes : {1 << 10, 1 << 20, 1 << 30}) {
    const double seconds = 1e-5 + static_cast<double>(bytes) / 1e10;
    system.points.push_back(
        {.band = size_band(static_cast<double>(bytes)),
         .ranks = 4,
         .bytes = {bytes},
         .measured = seconds,
         .predicted = factor * seconds,
         .interval = Interval<double>{.low = 0.5 * seconds, .typical = seconds, .high = 2 * seconds}});
  }
  return system;
}

AccuracyReport report() {
  AccuracyReport result;
  result.systems = {system_of("a", MachineClass::node_nvlink, 1.1),
                    system_of("b", MachineClass::node_pcie, 3), system_of("c", MachineClass::multi_node, 0.8),
                    system_of("sick", MachineClass::node_pcie, 100)};
  result.systems.back().excluded = "sick";
  return result;
}

std::size_t num_marks(const Figure& figure) {
  std::size_t count = 0;
  for (const Panel& panel : figure.panels) {
    for (const Element& element : panel.elements) {
      if (const auto* marks = std::get_if<Marks>(&element); marks != nullptr && panel.frame) {
        count += marks->marks.size();
      }
    }
  }
  return count;
}

TEST(AccuracyCharts, ScatterHasEveryFairPointOnce) {
  const auto figures = accuracy_scatter(report(), {});
  ASSERT_EQ(figures.size(), 1u);
  // Three systems of three points, and perhaps the mark of the legend.
  EXPECT_THAT(num_marks(figures[0]), testing::AllOf(testing::Ge(9u), testing::Le(10u)));
}

TEST(AccuracyCharts, OtherCollectivesHaveAColourOfTheirOwnAndNoCurves) {
  AccuracyReport other;
  other.systems = {system_of("gathers", MachineClass::node_pcie, 1.1, Collective::all_gather)};
  const auto figures = accuracy_scatter(other, {});
  ASSERT_EQ(figures.size(), 1u);
  std::vector<std::uint32_t> colors;
  for (const Panel& panel : figures[0].panels) {
    for (const Element& element : panel.elements) {
      if (const auto* marks = std::get_if<Marks>(&element);
          marks != nullptr && panel.frame && !marks->marks.empty()) {
        colors.push_back(marks->style.color.rgb);
      }
    }
  }
  EXPECT_THAT(colors, testing::ElementsAre(kOrange.rgb));
  EXPECT_THAT(accuracy_curves(other, {}), testing::IsEmpty());
}

TEST(AccuracyCharts, CurvesShowOneSystemPerPanel) {
  const auto figures = accuracy_curves(report(), {});
  ASSERT_EQ(figures.size(), 1u);
  std::vector<std::string> titles;
  for (const Panel& panel : figures[0].panels) {
    titles.push_back(panel.title);
  }
  EXPECT_THAT(titles, testing::IsSupersetOf({"a", "b", "c"}));
  EXPECT_THAT(titles, testing::Not(testing::Contains("sick")));
  EXPECT_THAT(accuracy_curves({}, {}), testing::IsEmpty());
}

TEST(AccuracyCharts, BarsStandForTheMedians) {
  AccuracyReport with_summary = report();
  with_summary.summaries = {{.statistic = "median",
                             .machine_class = "node_pcie",
                             .band = "all",
                             .model = "ringside",
                             .fold = "held_out",
                             .mape = 0.25}};
  const auto figures = accuracy_by_size(with_summary, {});
  ASSERT_EQ(figures.size(), 1u);
  std::vector<std::string> texts;
  for (const Panel& panel : figures[0].panels) {
    for (const Element& element : panel.elements) {
      if (const auto* text = std::get_if<Text>(&element)) {
        texts.push_back(text->text);
      }
    }
  }
  EXPECT_THAT(texts, testing::Contains("25"));
}

}  // namespace
}  // namespace ringside::plots
