#include "analysis/check/nic_share.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/comparison/comparison.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"

namespace ringside {
namespace {

/// What leaves a node per second over the bus bandwidth; 0 where that depends on the root.
double node_traffic(Collective collective, const NcclSystem& system) {
  switch (collective) {
    case Collective::all_reduce:
    case Collective::reduce_scatter:
    case Collective::all_gather:
      return 1;
    case Collective::all_to_all: {
      const double inside = system.gpus_per_node();
      return inside * (system.ranks - inside) / (system.ranks - 1);
    }
    default:
      return 0;
  }
}

}  // namespace

std::optional<NicShare> nic_share(const NcclSystem& system, double line_rate, std::span<const Point> points) {
  if (system.nodes < 2 || system.nics < 1 || points.empty()) {
    return std::nullopt;
  }
  NicShare share{.collective = points.front().key.collective,
                 .nodes = system.nodes,
                 .nics = system.nics,
                 .line_rate = line_rate,
                 .nvls = system.has_nvls()};
  for (const Point& point : points) {
    const auto rate = bus_bandwidth(share.collective, system.ranks, point.key.bytes, point.measured->seconds);
    // The largest of sizes that are alike.
    if (rate && rate->value * 1e-9 > 0.995 * share.busbw) {
      share.busbw = rate->value * 1e-9;
      share.bytes = point.key.bytes;
    }
  }
  const double traffic = node_traffic(share.collective, system);
  share.as_ring = share.busbw * traffic / share.nics;
  if (share.collective == Collective::all_reduce) {
    // A tree brings 2(N-1)/N of the message out of each of N nodes, a ring of n ranks 2(n-1)/n.
    const auto around = [](double n) { return (n - 1) / n; };
    share.tree_factor = around(system.ranks) / around(system.nodes);
  }
  return traffic > 0 && share.busbw > 0 ? std::optional(share) : std::nullopt;
}

std::string rate_text(double gigabytes) {
  return gigabytes >= 100  ? fmt::format("{:.0f}", gigabytes)
         : gigabytes >= 10 ? fmt::format("{:.1f}", gigabytes)
         : gigabytes >= 1  ? fmt::format("{:.2f}", gigabytes)
                           : fmt::format("{:.2g}", gigabytes);
}

std::string sentence(const NicShare& share) {
  constexpr double kExceeds = 1.05;
  const double of_line = share.as_ring / share.line_rate;
  const std::string per_nic = fmt::format(
      "Per NIC: {:.1f} GB/s, {} of its line rate of {:.1f} GB/s ({} GB/s at {} over {} of a node).",
      share.as_ring, percent(of_line), share.line_rate, rate_text(share.busbw), format(share.bytes),
      count_of(share.nics, "NIC"));
  if (share.collective != Collective::all_reduce) {
    return per_nic;
  }
  if (of_line > kExceeds * share.tree_factor) {
    return per_nic + " No algorithm of NCCL's exceeds that rate so far: is the network described right?";
  }
  if (share.tree_factor < kExceeds) {
    return per_nic + " No algorithm exceeds the line rate with one GPU a node.";
  }
  const double ring_reaches = share.line_rate * share.nics;
  return fmt::format("{} A ring reaches at most {} GB/s; {} may reach {} GB/s on {} nodes.", per_nic,
                     rate_text(ring_reaches), share.nvls ? "Tree and NVLSTree" : "Tree",
                     rate_text(ring_reaches * share.tree_factor), share.nodes);
}

}  // namespace ringside
