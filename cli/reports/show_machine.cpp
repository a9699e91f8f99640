#include "cli/reports/show_machine.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/console.hpp"
#include "cli/reports/report.hpp"
#include "common/failures.hpp"
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

/// Links of a kind, as the legend of a picture calls them; empty where it says their rate alone.
std::string_view words_of(LinkKind kind) {
  using enum LinkKind;
  constexpr auto kWords = std::to_array<Spelling<LinkKind>>({{gpu_to_gpu, "GPU to GPU"},
                                                             {gpu_up, "GPU to switch"},
                                                             {gpu_down, "GPU to switch"},
                                                             {pcie_up, "PCIe slot"},
                                                             {pcie_down, "PCIe slot"},
                                                             {pcie_switch_up, "PCIe switch's uplink"},
                                                             {pcie_switch_down, "PCIe switch's uplink"},
                                                             {staging, "staging"},
                                                             {host_bridge, "host bridge"},
                                                             {host_memory, "host memory"},
                                                             {inter_socket, "socket to socket"},
                                                             {nic_out, "NIC"},
                                                             {nic_in, "NIC"},
                                                             {fabric_out, "part of the fabric"},
                                                             {fabric_in, "part of the fabric"},
                                                             {switch_to_switch, "switch to switch"}});
  const auto* const found = std::ranges::find(kWords, kind, &Spelling<LinkKind>::first);
  return found == kWords.end() ? std::string_view() : found->second;
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
  const int top = std::ranges::max_element(description.vertices, {}, &DrawnVertex::level)->level;
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
  return std::ranges::min_element(description.ring, {}, &RingHop::with_ring)->with_ring;
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
    throw bad_input("show machine: {} ranks are too many to list; --ranks takes up to {}", ranks,
                    kMaxListedRanks);
  }
  const Network network = build_network(machine, ranks);
  const TopologyDescription description = describe(network);
  if (common.format == OutputFormat::json) {
    print_hops_as_json(description);
  } else {
    print_line("{}: {} ranks", machine.name, ranks);
    if (!network.order.empty()) {
      print_line("ring order{}: {}", machine.ring_order ? " (forced by ring_order)" : "",
                 fmt::join(network.order, " → "));
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
