#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "common/error.hpp"
#include "common/mapped.hpp"
#include "plots/charts/charts.hpp"
#include "plots/charts/topology_groups.hpp"
#include "plots/drawing/palette.hpp"
#include "plots/drawing/text.hpp"

namespace ringside::plots {
namespace {

constexpr Font kNodeFont{.size = 15};
constexpr double kNodeHeight = 40;
constexpr double kSide = 30;
constexpr double kPageSide = 20;               // As lay_out_page leaves.
constexpr double kBoxGap = 10;                 // Between the boxes of a level.
constexpr std::size_t kMaxLabelledEdges = 14;  // More labels would hide the edges; the legend names all.
constexpr Color kLimit = kVermillion;
constexpr Color kLimitFill{.rgb = 0xF8DCCB};

struct Place {
  XY center;
  double width;
  int level;
  std::size_t position;  ///< In its level.
};

using Places = std::map<std::string, Place>;

double wanted_width(const TopologyNode& node) { return text_width(text_of(node), kNodeFont) + 24; }

std::map<int, std::vector<const TopologyNode*>> levels_of(const TopologyGraph& graph) {
  std::map<int, std::vector<const TopologyNode*>> levels;
  for (const TopologyNode& node : graph.nodes) {
    levels[node.level].push_back(&node);
  }
  return levels;
}

double wanted_width(const std::vector<const TopologyNode*>& nodes) {
  return std::accumulate(nodes.begin(), nodes.end(), 0.0, [](double sum, const TopologyNode* node) {
    return sum + wanted_width(*node) + kBoxGap;
  });
}

std::set<int> full_levels(const TopologyGraph& graph, double width) {
  std::set<int> full;
  for (const auto& [level, nodes] : levels_of(graph)) {
    if (wanted_width(nodes) > width) {
      full.insert(level);
    }
  }
  return full;
}

/// How wide the part of a level is that each node gets: the same if that is enough, else by need.
std::vector<double> slots_of(const std::vector<const TopologyNode*>& nodes, double width) {
  const double equal = width / static_cast<double>(nodes.size());
  std::vector<double> slots(nodes.size(), equal);
  const bool enough = std::ranges::all_of(
      nodes, [&](const TopologyNode* node) { return wanted_width(*node) + kBoxGap <= equal; });
  const double wanted = wanted_width(nodes);
  if (!enough && wanted <= width) {
    std::ranges::transform(nodes, slots.begin(), [&](const TopologyNode* node) {
      return wanted_width(*node) + kBoxGap + (width - wanted) / static_cast<double>(nodes.size());
    });
  }
  return slots;
}

/// Rows of levels, nodes spread over the width.
Places lay_out_nodes(const TopologyGraph& graph, const Rect& area) {
  const auto levels = levels_of(graph);
  Places places;
  const double row_height = area.height / static_cast<double>(levels.size());
  double row = 0;
  for (const auto& [level, nodes] : levels) {
    const std::vector<double> slots = slots_of(nodes, area.width - 2 * kSide);
    double left = area.left + kSide;
    for (std::size_t index = 0; index < nodes.size(); ++index) {
      const XY center{left + slots[index] / 2, area.top + row_height * (row + 0.5)};
      const double width = std::min(wanted_width(*nodes[index]), slots[index] - kBoxGap);
      const bool is_new = places.emplace(nodes[index]->id, Place{center, width, level, index}).second;
      RINGSIDE_CHECK(is_new, "two nodes of a topology are called '" + nodes[index]->id + "'");
      left += slots[index];
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

/// 2.5 to 8 pixels, by the logarithm of the capacity: links differ by factors. Close ones look alike.
std::map<double, double> widths_of(const TopologyGraph& graph) {
  std::map<double, double> widths;
  for (const TopologyEdge& edge : graph.edges) {
    if (!edge.label.empty()) {
      widths[std::max(edge.capacity.value, 1.0)] = 0;
    }
  }
  if (widths.empty()) {
    return widths;
  }
  constexpr double kLeastFactor = 4;
  const double low = widths.begin()->first;
  const double factor = std::max(widths.rbegin()->first / low, kLeastFactor);
  for (auto& [capacity, width] : widths) {
    width = 2.5 + 5.5 * std::log(capacity / low) / std::log(factor);
  }
  return widths;
}

/// A colour per kind of link, of the same for all that limit, and dots where no link is modelled.
class EdgeStrokes {
 public:
  explicit EdgeStrokes(const TopologyGraph& graph) : widths_(widths_of(graph)) {
    for (const TopologyEdge& edge : graph.edges) {
      if (!edge.label.empty() && std::ranges::count(kinds_, edge.label) == 0) {
        kinds_.push_back(edge.label);
      }
    }
  }

  Stroke of(const TopologyEdge& edge) const {
    if (edge.label.empty()) {
      return {.color = kGrey, .width = 1.5, .dash = Dash::dotted};
    }
    constexpr std::array kColors = {kBlue, kOrange, kGreen, kPurple, kSkyBlue, kBlack};
    const auto kind = static_cast<std::size_t>(std::ranges::find(kinds_, edge.label) - kinds_.begin());
    return {.color = edge.limits ? kLimit : kColors[kind % kColors.size()],
            .width = widths_.at(std::max(edge.capacity.value, 1.0))};
  }

 private:
  std::map<double, double> widths_;
  std::vector<std::string> kinds_;  ///< In order of first appearance.
};

/// Everything that has a colour or a dash, once.
std::vector<LegendEntry> legend_of(const TopologyGraph& graph, const EdgeStrokes& strokes) {
  std::vector<LegendEntry> legend;
  std::set<std::pair<std::string, bool>> known;
  const TopologyEdge* attached = nullptr;
  for (const TopologyEdge& edge : graph.edges) {
    if (edge.label.empty()) {
      attached = &edge;
    } else if (known.insert({edge.label, edge.limits}).second) {
      legend.push_back({.label = edge.limits ? fmt::format("{}, {}", edge.label, graph.limit) : edge.label,
                        .line = strokes.of(edge)});
    }
  }
  if (std::ranges::any_of(graph.nodes, [](const TopologyNode& node) { return node.limits; })) {
    legend.push_back({.label = graph.limit, .band = kLimitFill});
  }
  if (attached != nullptr) {
    legend.push_back({.label = "sits on it, no limit of its own", .line = strokes.of(*attached)});
  }
  return legend;
}

/// Where the label of an edge may stand.
std::vector<XY> label_places(const std::vector<XY>& line) {
  std::vector<XY> centers;
  for (const double share : {0.5, 0.4, 0.6, 0.3, 0.7}) {
    centers.push_back(line.size() == 2
                          ? between(line[0], line[1], share)
                          : line[static_cast<std::size_t>(share * static_cast<double>(line.size() - 1))]);
  }
  return centers;
}

/// A line for each edge.
std::vector<std::vector<XY>> routes_of(const TopologyGraph& graph, const Places& places, const Rect& area) {
  std::size_t largest_level = 1;
  for (const auto& [id, place] : places) {
    largest_level = std::max(largest_level, place.position + 1);
  }
  // The deepest arc stays above the next level.
  const double row_height = area.height / static_cast<double>(levels_of(graph).size());
  const double depth = (row_height / 2 - kNodeHeight) / static_cast<double>(largest_level);
  return mapped(graph.edges, [&](const TopologyEdge& edge) {
    return route(place_of(places, edge.from), place_of(places, edge.to), depth);
  });
}

/// The boxes of nodes with their names, above the edges.
void add_nodes(Panel& page, const TopologyGraph& graph, const Places& places, LabelPlacer& placer,
               std::vector<Text>& texts) {
  Boxes boxes{.border = Stroke{.color = {.rgb = 0x333333}, .width = 1.5}};
  for (const TopologyNode& node : graph.nodes) {
    const Place& place = places.at(node.id);
    const Rect box{place.center.x - place.width / 2, place.center.y - kNodeHeight / 2, place.width,
                   kNodeHeight};
    placer.block(box);
    boxes.boxes.push_back({box.left, box.left + box.width, box.top, box.top + box.height,
                           node.limits ? kLimitFill : Color{.rgb = 0xF3F3F3}});
    texts.push_back({.at = place.center,
                     .text = shortened(text_of(node), kNodeFont, place.width - 8),
                     .align = Align::center,
                     .font = kNodeFont});
  }
  page.elements.emplace_back(std::move(boxes));
}

}  // namespace

std::vector<Figure> topology_graph(const TopologyGraph& whole, const ChartContext& context) {
  if (whole.nodes.empty()) {
    return {};
  }
  const int width = width_for(context.size, 1200);
  TopologyGraph graph = first_of_parts(whole);
  graph = grouped(graph, full_levels(graph, width - 2 * kSide - 2 * kPageSide));

  const EdgeStrokes strokes(graph);
  const bool labels_on_edges = graph.edges.size() <= kMaxLabelledEdges;
  Figure figure{.name = graph.name,
                .width = width,
                .height = 200 + 170 * static_cast<int>(std::max<std::size_t>(2, levels_of(graph).size()))};
  const Rect area =
      lay_out_page(figure, page_text(context, "links and what they carry in each direction (wider = faster)"),
                   legend_of(graph, strokes));
  const Places places = lay_out_nodes(graph, area);
  const std::vector<std::vector<XY>> routes = routes_of(graph, places, area);

  Panel page = pixel_panel(figure);
  LabelPlacer placer;
  for (std::size_t index = 0; index < graph.edges.size(); ++index) {
    const std::vector<XY>& line = routes[index];
    for (std::size_t point = 1; point < line.size(); ++point) {
      placer.block_line(line[point - 1], line[point]);
    }
    page.elements.emplace_back(Polyline{.points = line, .stroke = strokes.of(graph.edges[index])});
  }
  std::vector<Text> texts;
  add_nodes(page, graph, places, placer, texts);
  for (std::size_t index = 0; index < graph.edges.size(); ++index) {
    const TopologyEdge& edge = graph.edges[index];
    if (edge.label.empty() || (!labels_on_edges && edge.times == 1)) {
      continue;
    }
    const std::string label = edge.times > 1 ? fmt::format("{} × {}", edge.times, edge.label) : edge.label;
    const XY place = placer.place(label_places(routes[index]), text_width(label, kSmallFont) + 8, 20);
    texts.push_back(boxed_label(place, label, {.rgb = 0x333333}));
  }
  page.elements.insert(page.elements.end(), texts.begin(), texts.end());
  figure.panels.push_back(std::move(page));
  return {figure};
}

}  // namespace ringside::plots
