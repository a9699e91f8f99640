#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "plots/charts/charts.hpp"
#include "plots/drawing/palette.hpp"
#include "schedule/program/run_rounds.hpp"
#include "schedule/registry.hpp"
#include "tests/plots/figure_parts.hpp"
#include "tests/plots/placed_texts.hpp"
#include "tests/plots/samples.hpp"

namespace ringside::plots {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

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

TEST(ScheduleDiagram, HasAFileOfItsOwnForEachRequest) {
  const auto name_of = [](const std::string& algorithm, const ScheduleRequest& request) {
    return schedule_diagram({known_algorithm(request.collective, algorithm), request}, kContext).at(0).name;
  };
  EXPECT_EQ(name_of("binomial_tree", {.collective = Collective::broadcast, .num_ranks = 4, .root = 2}),
            "schedule_broadcast_binomial_tree_4_ranks_root_2");
  EXPECT_EQ(name_of("pipelined_ring", {.num_ranks = 2, .segments = 3}),
            "schedule_pipelined_ring_2_ranks_segments_3");
  EXPECT_EQ(name_of("hierarchical", {.num_ranks = 4, .ranks_per_node = 2}),
            "schedule_hierarchical_4_ranks_per_node_2");
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
  const Panel panel = plots_of(timelines({{"", bars}}, kContext).at(0)).at(0);
  EXPECT_THAT(panel.y.tics, ElementsAre(Tic{0.5, "rank 0"}, Tic{1.5, "rank 1"}));
  EXPECT_EQ(panel.x.label, "time (µs)");
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
  const auto boxes = elements_of<Boxes>(plots_of(timelines({{"", bars}}, kContext).at(0)).at(0)).at(0).boxes;
  EXPECT_EQ(boxes[0].low, boxes[1].low);
}

TEST(Timeline, ALaneIsFreeOnlyWhenItsLastBarEnds) {
  const std::vector<TimelineBar> bars = {{"rank 0", {0}, {0.1}, "", "transfer"},
                                         {"rank 0", {0.1}, {0.3}, "", "transfer"},
                                         {"rank 0", {0.2}, {0.25}, "", "transfer"}};
  const Panel panel = plots_of(timelines({{"", bars}}, kContext).at(0)).at(0);
  const auto boxes = elements_of<Boxes>(panel).at(0).boxes;
  EXPECT_NE(boxes[1].low, boxes[2].low);
  EXPECT_GE(panel.x.max, 0.3) << "the end is the last one, not that of the last bar";
}

TEST(Timeline, KindsHaveColoursOfTheirOwnAndLabelsWhereThereIsRoom) {
  const std::vector<TimelineBar> bars = {{"rank 0", {0}, {1}, "long", "wait"},
                                         {"rank 0", {1}, {1.0001}, "a label of some length", "pack"}};
  const Panel panel = plots_of(timelines({{"", bars}}, kContext).at(0)).at(0);
  const auto boxes = elements_of<Boxes>(panel).at(0).boxes;
  EXPECT_NE(boxes[0].fill, boxes[1].fill);
  const auto texts = elements_of<Text>(panel);
  ASSERT_THAT(texts, SizeIs(1));
  EXPECT_EQ(texts[0].text, "long");
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
  EXPECT_EQ(panels[1].x.label, "time (µs)");
}

TEST(Timeline, MoreTracksThanFitAreSaidToBeMissing) {
  std::vector<TimelineBar> bars;
  for (int track = 0; track < 70; ++track) {
    bars.push_back({fmt::format("rank {}", track), {0}, {1}, "", "transfer"});
  }
  const Figure figure = timelines({{"", bars}}, kContext).at(0);
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
  EXPECT_GT(widths.at(kGreen.rgb), widths.at(kBlue.rgb));     // NVLink and PCIe 4.0.
  EXPECT_GT(widths.at(kBlue.rgb), widths.at(kOrange.rgb));    // PCIe 4.0 and 3.0.
  EXPECT_GT(widths.at(kOrange.rgb), widths.at(kPurple.rgb));  // PCIe 3.0 and peer to peer.
}

TEST(TopologyGraph, EveryColourIsInTheLegendAndFewEdgesAreLabelledBesides) {
  EXPECT_THAT(texts_of(topology_graph(samples::pcie_host(), kContext).at(0)),
              Contains("PCIe 4.0 x16").Times(4 + 1));
  EXPECT_THAT(texts_of(topology_graph(samples::two_nodes(), kContext).at(0)),
              Contains("NVLink 3 300 GB/s").Times(1));
}

/// A line of the legend has the colour and the dash of each line of the picture.
void expect_legend_complete(const Figure& figure) {
  std::set<std::pair<std::uint32_t, Dash>> explained;
  for (const Polyline& line : elements_of<Polyline>(figure.panels.front())) {
    explained.insert({line.stroke.color.rgb, line.stroke.dash});
  }
  for (const Polyline& line : elements_of<Polyline>(figure.panels.back())) {
    EXPECT_TRUE(explained.contains({line.stroke.color.rgb, line.stroke.dash})) << line.stroke.color.rgb;
  }
}

TEST(TopologyGraph, OfPartsThatAreAlikeOneIsDrawn) {
  TopologyGraph graph;
  graph.nodes.push_back({"fabric", "fabric", 0});
  for (int part = 0; part < 3; ++part) {
    for (int nic = 0; nic < 8; ++nic) {
      const std::string id = fmt::format("nic{}_{}", part, nic);
      graph.nodes.push_back({id, fmt::format("NIC {}", nic), 1, "", part});
      graph.nodes.push_back({"socket" + id, fmt::format("socket {}", nic), 2, "", part});
      graph.edges.push_back({"fabric", id, "NIC 23 GB/s", {23e9}});
      graph.edges.push_back({id, "socket" + id, "", {}});
    }
  }
  const Figure figure = topology_graph(graph, kContext).at(0);
  EXPECT_THAT(texts_of(figure), Contains("NIC 7").Times(1));
  EXPECT_THAT(texts_of(figure), Contains("nodes 1 to 2, like node 0"));
  EXPECT_THAT(texts_of(figure), Contains("16 × NIC 23 GB/s"));
  EXPECT_THAT(unreadable_texts(figure), IsEmpty());
  expect_legend_complete(figure);
}

TEST(TopologyGraph, SeventyTwoGpusThatAreLinkedAlikeAreOneBox) {
  TopologyGraph graph{.nodes = {{"switch", "NVLink switch", 0}}, .edges = {}, .limit = "limits the ring"};
  for (int gpu = 0; gpu < 72; ++gpu) {
    const std::string id = fmt::format("gpu{}", gpu);
    graph.nodes.push_back({id, fmt::format("GPU {}", gpu), 1, "staging 22 GB/s", {}, true});
    graph.edges.push_back({"switch", id, "GPU to switch 747 GB/s", {747e9}});
  }
  const Figure figure = topology_graph(graph, kContext).at(0);
  EXPECT_THAT(texts_of(figure), Contains("GPU 0 to 71: staging 22 GB/s each"));
  EXPECT_THAT(texts_of(figure), Contains("72 × GPU to switch 747 GB/s"));
  EXPECT_THAT(texts_of(figure), Contains("limits the ring"));
  expect_legend_complete(figure);
}

TEST(TopologyGraph, WhatIsLinkedToOthersIsABoxOfItsOwn) {
  TopologyGraph graph;
  graph.nodes = {{"host", "host", 0}, {"a", "fabric A", 2}, {"b", "fabric B", 2}};
  for (int nic = 0; nic < 30; ++nic) {
    const std::string id = fmt::format("nic{}", nic);
    graph.nodes.push_back({id, fmt::format("NIC {}", nic), 1, "two ports each"});
    graph.edges.push_back({"host", id, "PCIe 32 GB/s", {32e9}});
    graph.edges.push_back({id, nic < 15 ? "a" : "b", "25 GB/s", {25e9}});
  }
  EXPECT_THAT(texts_of(topology_graph(graph, kContext).at(0)),
              testing::IsSupersetOf({HasSubstr("NIC 0 to 14"), HasSubstr("NIC 15 to 29")}));
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
