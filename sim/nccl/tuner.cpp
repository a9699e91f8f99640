#include "sim/nccl/tuner.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "common/units.hpp"

namespace ringside {

namespace {

// All numbers of this file: NVIDIA/nccl@5067397c (2.30.7), src/graph/tuning.cc unless another file is named.
// Microseconds and GB/s.

enum class Generation { volta, ampere, hopper, blackwell };
enum class Hardware { nvlink, pci, net };

using ByProtocol = std::array<double, 3>;  ///< LL, LL128, Simple.

constexpr ByProtocol kTreeBase = {6.8, 14.0, 8.4};
constexpr ByProtocol kRingBase = {6.6, 14.0, 8.4};
constexpr std::array<ByProtocol, 3> kTreeLatency = {{{0.6, 1.25, 4.0}, {1.0, 1.9, 4.0}, {5.0, 8.5, 14}}};
constexpr std::array<ByProtocol, 3> kRingLatency = {{{0.6, 1.9, 3.4}, {1.0, 2.5, 5.7}, {2.7, 4.0, 14}}};
constexpr double kNvlsLatency = 25;
constexpr double kNvlsTreeNetLatency = 20.9;
constexpr double kNetOverhead = 1;  ///< Per step, on CPUs other than AMD's; three times for Simple.

/// Columns: one node, two, more.
using ByNodes = std::array<double, 3>;
constexpr std::array<ByNodes, 4> kLlMax = {{{39, 39, 20.4}, {87.7, 22.5, 19}, {141, 45, 35}, {282, 90, 70}}};
constexpr std::array<ByNodes, 4> kRingLl128Max = {
    {{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 36.7}, {40, 40, 40}}};
constexpr std::array<ByNodes, 4> kTreeLl128Max = {
    {{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29}, {55.6, 31.67, 20}}};
constexpr std::array<ByNodes, 4> kTreeMax = {
    {{26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}, {70, 42.8, 24}}};
constexpr std::array<ByNodes, 4> kNvlsTreeMax = {
    {{26.5, 18.5, 10}, {24, 23.6, 17.8}, {0, 57.7, 45.5}, {0, 96, 80}}};

/// src/enqueue.cc: what a tree reaches at sizes 64 B, 128 B, …
constexpr std::array<std::array<double, 24>, 3> kTreeCorrection = {{
    {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1, 1},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9},
}};

// src/graph/search.cc: speeds that the search tries for a channel, best first.
constexpr auto kIntraOld = std::to_array<double>({40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3});
constexpr auto kIntraHopper = std::to_array<double>({60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3});
constexpr auto kIntraBlackwell = std::to_array<double>({90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18});
constexpr auto kInterOld =
    std::to_array<double>({48, 30, 28, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 2.4, 1.2, .24, .12});
constexpr auto kInterHopper =
    std::to_array<double>({48, 45, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, .24, .12});
constexpr auto kInterBlackwell = std::to_array<double>(
    {96, 86, 80, 48, 45.1, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, .24, .12});

Generation generation_of(const NcclSystem& system) {
  switch (system.architecture) {
    case Architecture::blackwell:
      return Generation::blackwell;
    case Architecture::hopper:
      return Generation::hopper;
    case Architecture::ampere:
    case Architecture::ada:
      return Generation::ampere;
    default:
      return Generation::volta;
  }
}

std::span<const double> speeds(Generation generation, bool inter) {
  switch (generation) {
    case Generation::blackwell:
      return inter ? std::span<const double>(kInterBlackwell) : kIntraBlackwell;
    case Generation::hopper:
      return inter ? std::span<const double>(kInterHopper) : kIntraHopper;
    default:
      return inter ? std::span<const double>(kInterOld) : kIntraOld;
  }
}

/// The best speed that fits into `rate`; the slowest when none does.
double fitting(std::span<const double> ladder, double rate) {
  const auto found = std::find_if(ladder.begin(), ladder.end(), [&](double speed) { return speed <= rate; });
  return found != ladder.end() ? *found : ladder.back();
}

/// GB/s of one GPU as NCCL assumes it (src/graph/topo.h): 20 of 25 per NVLink of Volta and Ampere, 20.6 of
/// Hopper, 40.1 of 50 of Blackwell, 18 of 20 of Pascal; PCIe 12, 24, 48 for x16.
double assumed_rate(const NcclSystem& system) {
  if (system.link == GpuLink::pcie) {
    constexpr double kOfDataSheet = 12.0 / 15.75;
    return system.link_rate * kOfDataSheet;
  }
  switch (system.architecture) {
    case Architecture::hopper:
      return system.link_rate * 20.6 / 25;
    case Architecture::blackwell:
      return system.link_rate * 40.1 / 50;
    case Architecture::pascal:
      return system.link_rate * 18 / 20;
    default:
      return system.link_rate * 20 / 25;
  }
}

/// One algorithm's and protocol's two numbers; bandwidth 0 = disabled.
struct Entry {
  double latency = 0;
  double bandwidth = 0;
};

class CostTable {
 public:
  CostTable(const NcclSystem& system, const NcclGraph& graph)
      : system_(system),
        graph_(graph),
        generation_(generation_of(system)),
        n_(system.ranks),
        num_nodes_(system.nodes),
        nodes_column_(std::min<std::size_t>(static_cast<std::size_t>(system.nodes), 3) - 1),
        intra_(system.link == GpuLink::pcie || system.link == GpuLink::none ? Hardware::pci
                                                                            : Hardware::nvlink) {}

  double least(double bytes) const {
    double best = 0;
    for (const auto algorithm : {NcclAlgorithm::ring, NcclAlgorithm::tree, NcclAlgorithm::nvls}) {
      for (std::size_t protocol = 0; protocol < 3; ++protocol) {
        if (!allowed(algorithm, protocol)) {
          continue;
        }
        const Entry entry = corrected(algorithm, protocol, bytes);
        if (entry.bandwidth > 0) {
          const double time = entry.latency + bytes / (1000 * entry.bandwidth);
          best = best > 0 ? std::min(best, time) : time;
        }
      }
    }
    return best;
  }

 private:
  static constexpr std::size_t kLl = 0;
  static constexpr std::size_t kLl128 = 1;
  static constexpr std::size_t kSimple = 2;

  bool allowed(NcclAlgorithm algorithm, std::size_t protocol) const {
    if (system_.algorithm && *system_.algorithm != algorithm) {
      return false;
    }
    if (system_.protocol) {
      return static_cast<std::size_t>(*system_.protocol) == protocol;
    }
    return protocol != kLl128 || intra_ == Hardware::nvlink;
  }

  double cap(const std::array<ByNodes, 4>& table) const {
    return table[static_cast<std::size_t>(generation_)][nodes_column_];
  }

  double hop(const std::array<ByProtocol, 3>& table, Hardware hardware, std::size_t protocol) const {
    return table[static_cast<std::size_t>(hardware)][protocol];
  }

  double ring_latency(std::size_t protocol) const {
    const double steps = 2 * (n_ - 1);
    const double between = 2 * (num_nodes_ - 1);  // 2N before NCCL 2.23.
    const bool one_gpu = system_.ranks == system_.nodes;
    const double net = hop(one_gpu ? kTreeLatency : kRingLatency, Hardware::net, protocol);
    const double overhead = num_nodes_ > 1 ? kNetOverhead * (protocol == kSimple ? 3 : 1) : 0;
    return kRingBase[protocol] + (steps - between) * std::max(hop(kRingLatency, intra_, protocol), overhead) +
           between * net;
  }

  double tree_latency(std::size_t protocol) const {
    const int per_node = system_.ranks / system_.nodes;
    const double levels = std::floor(std::log2(num_nodes_));
    return kTreeBase[protocol] + 2 * ((per_node - 1) * hop(kTreeLatency, intra_, protocol) +
                                      levels * hop(kTreeLatency, Hardware::net, protocol));
  }

  /// Sum over channels before what the protocol costs. Up to two nodes NCCL takes the speed inside.
  double channels_rate() const { return graph_.channels * (num_nodes_ <= 2 ? graph_.intra : graph_.inter); }

  /// Cap of LL, over all channels: by the GPU on one node, by the CPU (not AMD) on several.
  double ll_cap() const {
    return num_nodes_ > 1 ? kLlMax[static_cast<std::size_t>(Generation::volta)][nodes_column_] : cap(kLlMax);
  }

  Entry ring(std::size_t protocol) const {
    double rate = channels_rate();
    if (protocol == kLl) {
      rate = std::min(ll_cap(), rate * 0.5);
    } else if (protocol == kLl128) {
      rate = std::min(rate * 0.92, graph_.channels * cap(kRingLl128Max));
    }
    return {.latency = ring_latency(protocol), .bandwidth = rate * n_ / (2 * (n_ - 1))};
  }

  Entry tree(std::size_t protocol) const {
    double rate = std::min(channels_rate() * 0.92, graph_.channels * cap(kTreeMax));
    if (protocol == kLl) {
      rate = std::min(rate / 3.8, ll_cap());
    } else if (protocol == kLl128) {
      rate = std::min(rate * (num_nodes_ <= 1 ? 7.0 / 9 : 120.0 / 128), graph_.channels * cap(kTreeLl128Max));
    }
    return {.latency = tree_latency(protocol), .bandwidth = rate * (graph_.plain_tree ? 0.85 : 1) * 0.5};
  }

  /// NVLS on one node, NVLS-Tree on several.
  Entry nvls(std::size_t protocol) const {
    if (protocol != kSimple || graph_.nvls_channels < 2) {
      return {};
    }
    const double channels = graph_.nvls_channels;
    const double efficiency = generation_ == Generation::hopper ? 0.85 : 0.74;
    double channel = graph_.nvls * efficiency * (channels - 1) / channels * 2;
    double latency = kNvlsLatency;
    if (num_nodes_ > 1) {
      channel = std::min({channel, graph_.inter * (num_nodes_ <= 2 ? 2 : 1), cap(kNvlsTreeMax)});
      latency += 2 * std::floor(std::log2(num_nodes_)) * kNvlsTreeNetLatency;
    }
    return {.latency = latency, .bandwidth = channel * channels * n_ / (2 * (n_ - 1))};
  }

  Entry corrected(NcclAlgorithm algorithm, std::size_t protocol, double bytes) const {
    const int size_index = std::max(0, static_cast<int>(std::floor(std::log2(bytes / 64))));
    switch (algorithm) {
      case NcclAlgorithm::nvls: {
        Entry entry = nvls(protocol);
        if (num_nodes_ > 1 && generation_ == Generation::blackwell && size_index < 24) {
          entry.bandwidth *= kTreeCorrection[protocol][static_cast<std::size_t>(size_index)];
        }
        return entry;
      }
      case NcclAlgorithm::tree: {
        Entry entry = tree(protocol);
        if (bytes >= 64 && size_index < 23) {
          entry.bandwidth *= kTreeCorrection[protocol][static_cast<std::size_t>(size_index)];
        }
        return entry;
      }
      case NcclAlgorithm::ring:
        break;
    }
    Entry entry = ring(protocol);
    if (protocol == kSimple && num_nodes_ > 1 && bytes / (graph_.channels * n_) >= 64) {
      entry.latency *= generation_ == Generation::volta ? 1.9 : 1.4;
    }
    return entry;
  }

  const NcclSystem& system_;
  const NcclGraph& graph_;
  Generation generation_;
  double n_;
  double num_nodes_;
  std::size_t nodes_column_;
  Hardware intra_;
};

}  // namespace

NcclGraph nccl_graph(const NcclSystem& system) {
  const Generation generation = generation_of(system);
  NcclGraph graph;
  const double inside = assumed_rate(system);
  if (system.nodes > 1) {
    // A channel leaves through one NIC and crosses the node once.
    const double nic = system.network_rate / system.nics;
    graph.inter = fitting(speeds(generation, true), nic);
    graph.channels = std::max(1, system.nics);
    if (inside > 0) {
      graph.inter = std::min(graph.inter, inside / graph.channels);
    }
    graph.intra = graph.inter;
    graph.plain_tree = true;  // As the log of NVIDIA/nccl issue 1453 shows for 3 x 8 H100.
  } else {
    graph.intra = fitting(speeds(generation, false), inside);
    graph.channels = std::max(1, static_cast<int>(inside / graph.intra));
  }
  // Fast channels are split in two; from Hopper on not where there are more than four of less than 50 GB/s.
  const bool recent = generation >= Generation::hopper;
  if (graph.intra >= 25 && !(recent && graph.intra < 50 && graph.channels > 4)) {
    graph.channels *= 2;
    graph.intra /= 2;
    graph.inter /= 2;
  }
  const double per_node = system.gpus_per_node();
  if (recent && system.link == GpuLink::nvswitch && per_node >= 2) {
    graph.nvls_channels = static_cast<int>(per_node);
    graph.nvls = fitting(speeds(generation, false), inside / (per_node + 1));
  }
  return graph;
}

std::optional<double> nccl_tuner_seconds(const NcclSystem& system, const NcclGraph& graph, double bytes) {
  if (system.vendor != Vendor::nvidia) {
    return std::nullopt;
  }
  const double time = CostTable(system, graph).least(bytes);
  return time > 0 ? std::optional(kMicro * time) : std::nullopt;
}

double alpha_beta_seconds(const NcclSystem& system, Collective collective, double bytes) {
  const double n = system.ranks;
  const double num_nodes = system.nodes;
  const Hardware inside = system.link == GpuLink::pcie ? Hardware::pci : Hardware::nvlink;
  const double alpha = kRingLatency[static_cast<std::size_t>(inside)][0];
  const double alpha_network = kRingLatency[static_cast<std::size_t>(Hardware::net)][0];
  double rate = system.link == GpuLink::none ? system.network_rate : system.link_rate;
  if (system.nodes > 1) {
    // A ring leaves a node through one rank at a time, an all_to_all through all of them.
    const double sharers = collective == Collective::all_to_all ? system.gpus_per_node() : 1;
    rate = std::min(rate, system.network_rate / sharers);
  }
  if (collective == Collective::send_recv) {
    return kMicro * (kRingBase[0] + (num_nodes > 1 ? alpha_network : alpha)) + bytes / (rate * 1e9);
  }
  const double rounds = std::max(1, row_of(collective).bus_factor);
  const double steps = rounds * (n - 1);
  const double between = rounds * (num_nodes - 1);
  return kMicro * (kRingBase[0] + (steps - between) * alpha + between * alpha_network) +
         bus_share(collective, n) * bytes / (rate * 1e9);
}

}  // namespace ringside
