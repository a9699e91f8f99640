#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

#include "common/error.hpp"
#include "plots/charts/charts.hpp"
#include "plots/drawing/page.hpp"
#include "plots/drawing/palette.hpp"
#include "plots/drawing/text.hpp"

namespace ringside::plots {
namespace {

constexpr Font kNodeFont{.size = 15};
constexpr Font kEdgeFont{.size = 13};
constexpr double kNodeHeight = 40;
constexpr double kSide = 30;
constexpr std::size_t kMaxLabelledEdges =
    14;  // More labels would hide the edges: then the legend names them.

struct Place {
  XY center;
  double width;
  int level;
  std::size_t position;  ///< In its level.
};

using Places = std::map<std::string, Place>;

/// Rows of levels, nodes spread evenly over the width.
Places lay_out_nodes(const TopologyGraph& graph, const Rect& area) {
  std::map<int, std::vector<const TopologyNode*>> levels;
  for (const TopologyNode& node : graph.nodes) {
    levels[node.level].push_back(&node);
  }
  Places places;
  const double row_height = area.height / static_cast<double>(levels.size());
  double row = 0;
  for (const auto& [level, nodes] : levels) {
    const double slot = (area.width - 2 * kSide) / static_cast<double>(nodes.size());
    for (std::size_t index = 0; index < nodes.size(); ++index) {
      const double wanted = text_width(nodes[index]->label, kNodeFont) + 24;
      const XY center{area.left + kSide + slot * (static_cast<double>(index) + 0.5),
                      area.top + row_height * (row + 0.5)};
      const bool is_new =
          places.emplace(nodes[index]->id, Place{center, std::min(wanted, slot - 8), level, index}).second;
      RINGSIDE_CHECK(is_new, "two nodes of a topology are called '" + nodes[index]->id + "'");
    }
    ++row;
  }
  return places;
}

const Place& place_of(const Places& places, const std::string& id) {
  const auto place = places.find(id);
  RINGSIDE_CHECK(place != places.end(), "an edge of a topology names the unknown node '" + id + "'");
  return place->second;
}

/// A straight line between levels; inside a level an arc below the nodes, the deeper the farther it reaches.
std::vector<XY> route(const Place& from, const Place& to, double depth_per_position) {
  if (from.level != to.level) {
    return {from.center, to.center};
  }
  const auto distance = static_cast<double>(from.position > to.position ? from.position - to.position
                                                                        : to.position - from.position);
  if (distance <= 1) {
    return {from.center, to.center};
  }
  constexpr int kSteps = 24;
  std::vector<XY> points;
  for (int step = 0; step <= kSteps; ++step) {
    const double share = static_cast<double>(step) / kSteps;
    const double bend = 4 * share * (1 - share);  // A parabola: 0 at both ends, 1 half way.
    points.push_back({from.center.x + share * (to.center.x - from.center.x),
                      from.center.y + bend * (kNodeHeight * 0.6 + depth_per_position * distance)});
  }
  return points;
}

/// 1.5 to 8 pixels, by the logarithm of the capacity: links differ by factors.
std::map<double, double> widths_of(const TopologyGraph& graph) {
  std::map<double, double> widths;
  for (const TopologyEdge& edge : graph.edges) {
    widths[edge.capacity.value] = 0;
  }
  const double low = std::max(widths.empty() ? 1 : widths.begin()->first, 1.0);
  const double high = std::max(widths.empty() ? 1 : widths.rbegin()->first, low);
  for (auto& [capacity, width] : widths) {
    const double share = high > low ? std::log(std::max(capacity, low) / low) / std::log(high / low) : 0.4;
    width = 1.5 + 6.5 * share;
  }
  return widths;
}

}  // namespace

std::vector<Figure> topology_graph(const TopologyGraph& graph, const ChartContext& context) {
  if (graph.nodes.empty()) {
    return {};
  }
  std::vector<std::string> kinds;  // Labels of edges, in order of first appearance: one colour each.
  std::map<std::string, const TopologyEdge*> example;
  std::set<int> levels;
  for (const TopologyEdge& edge : graph.edges) {
    if (example.emplace(edge.label, &edge).second) {
      kinds.push_back(edge.label);
    }
  }
  for (const TopologyNode& node : graph.nodes) {
    levels.insert(node.level);
  }
  const std::map<double, double> widths = widths_of(graph);
  const auto stroke_of = [&](const TopologyEdge& edge) {
    const auto kind = std::find(kinds.begin(), kinds.end(), edge.label) - kinds.begin();
    return Stroke{.color = cycle_color(static_cast<std::size_t>(kind)),
                  .width = widths.at(edge.capacity.value)};
  };
  std::vector<LegendEntry> legend;
  const bool labels_on_edges = graph.edges.size() <= kMaxLabelledEdges;
  for (const std::string& kind : kinds) {
    if (!kind.empty() && !labels_on_edges) {
      legend.push_back({.label = kind, .line = stroke_of(*example.at(kind))});
    }
  }

  Figure figure{.name = "topology",
                .width = 1200,
                .height = 200 + 170 * static_cast<int>(std::max<std::size_t>(2, levels.size()))};
  const Rect area =
      lay_out_page(figure, page_text(context, "links and what they carry (wider = faster)"), legend);
  const Places places = lay_out_nodes(graph, area);
  const double row_height = area.height / static_cast<double>(levels.size());
  std::size_t largest_level = 1;
  for (const auto& [id, place] : places) {
    largest_level = std::max(largest_level, place.position + 1);
  }
  // The deepest arc stays above the next level.
  const double depth = (row_height / 2 - kNodeHeight) / static_cast<double>(largest_level);

  Panel page = pixel_panel(figure);
  LabelPlacer placer;
  std::vector<std::vector<XY>> routes;
  for (const TopologyEdge& edge : graph.edges) {
    routes.push_back(route(place_of(places, edge.from), place_of(places, edge.to), depth));
    for (std::size_t index = 1; index < routes.back().size(); ++index) {
      placer.block_line(routes.back()[index - 1], routes.back()[index]);
    }
    page.elements.emplace_back(Polyline{.points = routes.back(), .stroke = stroke_of(edge)});
  }
  Boxes boxes{.border = Stroke{.color = {.rgb = 0x333333}, .width = 1.5}};
  std::vector<Text> texts;
  for (const TopologyNode& node : graph.nodes) {
    const Place& place = places.at(node.id);
    const Rect box{place.center.x - place.width / 2, place.center.y - kNodeHeight / 2, place.width,
                   kNodeHeight};
    placer.block(box);
    boxes.boxes.push_back({box.left, box.left + box.width, box.top, box.top + box.height, {.rgb = 0xF3F3F3}});
    texts.push_back({.at = place.center,
                     .text = shortened(node.label, kNodeFont, place.width - 8),
                     .align = Align::center,
                     .font = kNodeFont});
  }
  page.elements.emplace_back(std::move(boxes));
  if (labels_on_edges) {
    for (std::size_t index = 0; index < graph.edges.size(); ++index) {
      const std::vector<XY>& line = routes[index];
      const std::string& label = graph.edges[index].label;
      std::vector<XY> centers;
      for (const double share : {0.5, 0.4, 0.6, 0.3, 0.7}) {
        if (line.size() == 2) {
          centers.push_back(
              {line[0].x + share * (line[1].x - line[0].x), line[0].y + share * (line[1].y - line[0].y)});
        } else {
          centers.push_back(line[static_cast<std::size_t>(share * static_cast<double>(line.size() - 1))]);
        }
      }
      if (!label.empty()) {
        texts.push_back({.at = placer.place(centers, text_width(label, kEdgeFont) + 8, 20),
                         .text = label,
                         .align = Align::center,
                         .font = kEdgeFont,
                         .color = {.rgb = 0x333333},
                         .opaque = true});
      }
    }
  }
  page.elements.insert(page.elements.end(), texts.begin(), texts.end());
  figure.panels.push_back(std::move(page));
  return {figure};
}

}  // namespace ringside::plots
