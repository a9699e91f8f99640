#include <algorithm>

#include "common/units.hpp"
#include "sim/nccl/model.hpp"

namespace ringside {

double nccl_least_seconds(const NcclSystem& system, Collective collective, double bytes) {
  const auto share = [collective](double parts, bool switch_reduces) {
    return collective == Collective::all_reduce && switch_reduces ? 1 : bus_share(collective, parts);
  };
  const auto seconds = [bytes](double part, double rate) {
    return rate > 0 ? bytes * part / (rate * kGiga) : 0;
  };
  const double most = std::max(system.link_rate, system.measured_rate);
  const double g = system.gpus_per_node();
  // In an all_to_all a rank's parts for its own node stay inside, and the others of all its ranks leave it.
  const bool all_to_all = collective == Collective::all_to_all;
  const double part_inside = all_to_all ? (g - 1) / system.ranks : share(g, system.link == GpuLink::nvswitch);
  const double part_between = all_to_all ? g * (system.nodes - 1) / system.nodes
                                         : share(system.nodes, system.network == InterKind::infiniband);
  const double inside = g > 1 ? seconds(part_inside, most) : 0;
  const double between = system.nodes > 1 ? seconds(part_between, system.network_rate) : 0;
  // Bridges between pairs of cards carry what they carry beside PCIe.
  return std::max(system.bridged_pairs ? 0 : inside, between);
}

}  // namespace ringside
