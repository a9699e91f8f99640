#include "analysis/check/nic_share.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/comparison/comparison.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"

namespace ringside {

double gigabytes(const PointKey& key, Seconds time) {
  const auto rate = bus_bandwidth(key.collective, key.ranks, key.bytes, time);
  return rate ? rate->value * 1e-9 : 0;
}

std::optional<NicShare> nic_share(const NcclSystem& system, double line_rate, std::span<const Point> points) {
  const Collective collective = points.empty() ? Collective::send_recv : points.front().key.collective;
  const bool rings = collective == Collective::all_reduce || collective == Collective::reduce_scatter ||
                     collective == Collective::all_gather;
  if (system.nodes < 2 || system.nics < 1 || !rings) {
    return std::nullopt;
  }
  NicShare share{.collective = collective,
                 .nodes = system.nodes,
                 .nics = system.nics,
                 .line_rate = line_rate,
                 .nvls = system.has_nvls()};
  double most = 0;
  for (const Point& point : points) {
    most = std::max(most, gigabytes(point.key, point.measured->seconds));
  }
  for (const Point& point : points) {
    const double rate = gigabytes(point.key, point.measured->seconds);
    // The largest of sizes that are alike.
    if (rate > 0.995 * most && point.key.bytes.value >= share.bytes.value) {
      share.busbw = rate;
      share.bytes = point.key.bytes;
    }
  }
  share.as_ring = share.busbw / share.nics;
  if (share.collective == Collective::all_reduce) {
    // A tree brings 2(N-1)/N of the message out of each of N nodes, a ring of n ranks 2(n-1)/n.
    const auto around = [](double n) { return (n - 1) / n; };
    share.tree_factor = around(system.ranks) / around(system.nodes);
  }
  return share;
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
    return per_nic +
           " No algorithm of NCCL's exceeds the line rate by so much: is the network described right?";
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
