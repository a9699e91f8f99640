#include "cli/reports/show_machine.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/console.hpp"
#include "cli/reports/report.hpp"
#include "common/error.hpp"
#include "plots/charts/charts.hpp"
#include "sim/topology/description.hpp"
#include "sim/topology/network.hpp"
#include "study/inputs/scenario_points.hpp"

namespace ringside::cli {
namespace {

/// A machine that does not say how many GPUs it has is shown with this many ranks.
constexpr int kDefaultRanks = 4;
constexpr int kMaxListedRanks = 65536;
/// Beyond this a drawing takes long.
constexpr std::size_t kMaxDrawnVertices = 2000;

/// The machine's name, or its file's without `.yaml`; names such as `p4d.24xlarge` have a dot, too.
std::string name_of(const std::filesystem::path& file) {
  const bool is_file = file.extension() == ".yaml" || file.extension() == ".yml";
  return (is_file ? file.stem() : file.filename()).string();
}

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

/// Links of a kind, as the legend of a picture calls them.
std::string_view words_of(LinkKind kind) {
  switch (kind) {
    case LinkKind::gpu_to_gpu:
      return "GPU to GPU";
    case LinkKind::gpu_up:
    case LinkKind::gpu_down:
      return "GPU to switch";
    case LinkKind::pcie_up:
    case LinkKind::pcie_down:
      return "PCIe slot";
    case LinkKind::pcie_switch_up:
    case LinkKind::pcie_switch_down:
      return "PCIe switch's uplink";
    case LinkKind::staging:
      return "staging";
    case LinkKind::host_bridge:
      return "host bridge";
    case LinkKind::host_memory:
      return "host memory";
    case LinkKind::inter_socket:
      return "socket to socket";
    case LinkKind::nic_out:
    case LinkKind::nic_in:
      return "NIC";
    case LinkKind::fabric_out:
    case LinkKind::fabric_in:
      return "part of the fabric";
    case LinkKind::switch_to_switch:
      return "switch to switch";
    case LinkKind::medium:
    case LinkKind::other:
      break;
  }
  return "";
}

std::string text_of(const DrawnEdge& edge) {
  if (!edge.capacity) {
    return {};
  }
  const std::string_view words = words_of(edge.kind);
  return words.empty() ? format(*edge.capacity) : fmt::format("{} {}", words, format(*edge.capacity));
}

/// A medium that everything at a vertex shares is part of what the vertex is.
void add_medium(const DrawnEdge& edge, plots::TopologyNode& node) {
  node.detail += (node.detail.empty() ? "" : ", ") + text_of(edge);
  node.limits = node.limits || edge.limits_ring;
}

plots::TopologyGraph graph_of(const TopologyDescription& description) {
  const int top =
      std::max_element(description.vertices.begin(), description.vertices.end(),
                       [](const DrawnVertex& a, const DrawnVertex& b) { return a.level < b.level; })
          ->level;
  plots::TopologyGraph graph;
  for (std::size_t i = 0; i < description.vertices.size(); ++i) {
    const DrawnVertex& vertex = description.vertices[i];
    const std::string prefix = vertex.node ? fmt::format("node {}: ", *vertex.node) : "";
    graph.nodes.push_back({.id = std::to_string(i),
                           .label = vertex.label.substr(prefix.size()),
                           .level = top - vertex.level,
                           .detail = {},
                           .part = vertex.node});
  }
  for (const DrawnEdge& edge : description.edges) {
    if (edge.from == edge.to) {
      add_medium(edge, graph.nodes.at(static_cast<std::size_t>(edge.from)));
      continue;
    }
    graph.edges.push_back({.from = std::to_string(edge.from),
                           .to = std::to_string(edge.to),
                           .label = text_of(edge),
                           .capacity = edge.capacity.value_or(BytesPerSecond{}),
                           .limits = edge.limits_ring});
  }
  return graph;
}

BytesPerSecond slowest_hop(const TopologyDescription& description) {
  return std::min_element(description.ring.begin(), description.ring.end(),
                          [](const RingHop& a, const RingHop& b) { return a.with_ring < b.with_ring; })
      ->with_ring;
}

/// What gives the slowest hop of the ring so little, which the picture marks.
std::string limit_of(const TopologyDescription& description) {
  const CrossedLink& link = description.limiting.front();
  std::string text = "limit of the ring: ";
  text += link.ring_flows > 1 ? fmt::format("{} flows share {}", link.ring_flows, link.name) : link.name;
  if (description.limiting.size() > 1) {
    text += fmt::format(", and {} more alike", description.limiting.size() - 1);
  }
  return text + fmt::format("; {} a hop", format(slowest_hop(description)));
}

void print_hops(const TopologyDescription& description) {
  Rows rows;
  for (const RingHop& hop : description.ring) {
    rows.push_back({fmt::format("{} → {}", hop.source, hop.target), format(hop.latency), format(hop.alone),
                    format(hop.with_ring), crossed(hop)});
  }
  print_table({{"hop", ">latency", ">alone", ">with the whole ring", "crosses"}, rows});
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
    print_record({{"record", "hop"},
                  {"source", hop.source},
                  {"target", hop.target},
                  {"latency", hop.latency.value},
                  {"alone", hop.alone.value},
                  {"with_ring", hop.with_ring.value},
                  {"links", links}});
  }
}

}  // namespace

void show_machine(const std::filesystem::path& file, int num_ranks, bool draw, const CommonOptions& common) {
  const Machine machine = study::read_machine(file, "show machine");
  const int ranks = num_ranks > 0 ? num_ranks : machine.gpus_per_node.value_or(kDefaultRanks) * machine.nodes;
  if (ranks > kMaxListedRanks) {
    throw Error(ErrorKind::bad_input,
                fmt::format("show machine: {} ranks are too many to list; --ranks takes up to {}", ranks,
                            kMaxListedRanks));
  }
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
    if (!description.limiting.empty()) {
      print_line();
      print_line(limit_of(description));
    }
  }
  if (draw && !description.edges.empty() && description.vertices.size() <= kMaxDrawnVertices) {
    Progress progress(common.quiet);
    const plots::ChartContext context = {.title = machine.name,
                                         .machine = machine.name,
                                         .source = file.string(),
                                         .output_directory = study::output_directory(common, "show"),
                                         .size = common.chart_size};
    plots::TopologyGraph graph = graph_of(description);
    graph.name = fmt::format("topology_{}_{}_ranks", study::folder_name(name_of(file)), ranks);
    if (!description.limiting.empty()) {
      graph.limit = fmt::format("limits the ring: {} a hop", format(slowest_hop(description)));
    }
    draw_charts(plots::topology_graph(graph, context), context, common, progress);
  }
}

}  // namespace ringside::cli
