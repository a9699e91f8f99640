#include "cli/reports/show_machine.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/console.hpp"
#include "cli/reports/report.hpp"
#include "plots/charts/charts.hpp"
#include "sim/topology/description.hpp"
#include "sim/topology/network.hpp"
#include "study/inputs/scenario_points.hpp"

namespace ringside::cli {
namespace {

/// A machine that does not say how many GPUs it has is shown with this many ranks.
constexpr int kDefaultRanks = 4;
/// Beyond this the drawing is a thicket.
constexpr std::size_t kMaxDrawnVertices = 80;

std::string crossed(const RingHop& hop) {
  std::vector<std::string> parts;
  for (const CrossedLink& link : hop.links) {
    std::string part = link.times > 1 ? fmt::format("{} ×{}", link.name, link.times) : link.name;
    if (link.ring_flows > 1) {
      part += fmt::format(" ({} flows)", link.ring_flows);
    }
    parts.push_back(std::move(part));
  }
  return parts.empty() ? "a private link" : fmt::format("{}", fmt::join(parts, ", "));
}

plots::TopologyGraph graph_of(const TopologyDescription& description) {
  const int top =
      std::max_element(description.vertices.begin(), description.vertices.end(),
                       [](const DrawnVertex& a, const DrawnVertex& b) { return a.level < b.level; })
          ->level;
  plots::TopologyGraph graph;
  for (std::size_t i = 0; i < description.vertices.size(); ++i) {
    graph.nodes.push_back({.id = std::to_string(i),
                           .label = description.vertices[i].label,
                           .level = top - description.vertices[i].level});
  }
  for (const DrawnEdge& edge : description.edges) {
    const std::string rate = edge.capacity ? format(*edge.capacity) : edge.label;
    if (edge.from == edge.to) {
      // A medium that everything at this vertex shares is part of what the vertex is.
      graph.nodes.at(static_cast<std::size_t>(edge.from)).label += ": " + rate;
      continue;
    }
    graph.edges.push_back({.from = std::to_string(edge.from),
                           .to = std::to_string(edge.to),
                           .label = rate,
                           .capacity = edge.capacity.value_or(BytesPerSecond{})});
  }
  return graph;
}

void print_hops(const TopologyDescription& description) {
  std::vector<std::vector<std::string>> rows;
  for (const RingHop& hop : description.ring) {
    rows.push_back({fmt::format("{} → {}", hop.source, hop.target), format(hop.latency), format(hop.alone),
                    format(hop.with_ring), crossed(hop)});
  }
  print(table({"hop", ">latency", ">alone", ">with the whole ring", "crosses"}, rows));
}

void print_hops_as_json(const TopologyDescription& description) {
  for (const RingHop& hop : description.ring) {
    nlohmann::ordered_json links = nlohmann::ordered_json::array();
    for (const CrossedLink& link : hop.links) {
      links.push_back({{"name", link.name},
                       {"times", link.times},
                       {"ring_flows", link.ring_flows},
                       {"bytes_per_second", link.capacity.value}});
    }
    print_line(nlohmann::ordered_json{
        {"record", "hop"},
        {"source", hop.source},
        {"target", hop.target},
        {"latency", hop.latency.value},
        {"alone", hop.alone.value},
        {"with_ring", hop.with_ring.value},
        {"links",
         links}}.dump());
  }
}

}  // namespace

void show_machine(const std::filesystem::path& file, int num_ranks, const CommonOptions& common) {
  const Machine machine = study::read_machine(file);
  const int ranks = num_ranks > 0 ? num_ranks : machine.gpus_per_node.value_or(kDefaultRanks) * machine.nodes;
  const Network network = build_network(machine, ranks);
  const TopologyDescription description = describe(network);
  if (common.format == OutputFormat::json) {
    print_hops_as_json(description);
  } else {
    print_line(fmt::format("{}: {} ranks", machine.name, ranks));
    if (!network.order.empty()) {
      print_line(fmt::format("ring order{}: {}", machine.ring_order ? " (forced by ring_order)" : "",
                             fmt::join(network.order, " → ")));
    }
    print_line();
    print_hops(description);
  }
  if (!description.vertices.empty() && description.vertices.size() <= kMaxDrawnVertices) {
    Progress progress(common.quiet);
    const plots::ChartContext context = {.title = machine.name,
                                         .machine = machine.name,
                                         .source = file.string(),
                                         .output_directory = study::output_directory(common, "show")};
    draw_charts(plots::topology_graph(graph_of(description), context), context, common, progress);
  }
}

}  // namespace ringside::cli
