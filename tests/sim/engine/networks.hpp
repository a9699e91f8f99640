#pragma once

#include <vector>

#include "sim/topology/network.hpp"

/// Small networks made by hand, for tests of the engines.
namespace ringside::test {

/// Latency, inverse bandwidth and reduction cost in seconds and bytes.
struct Costs {
  double latency = 5e-6;
  double inverse_bandwidth = 1e-10;
  double reduction = 0;
};

/// A private full-duplex link for every pair, as a uniform network without a topology.
Network uniform_network(int num_ranks, const Costs& costs);

/// The same, link by link and with nothing that says it is uniform.
Network private_links(int num_ranks, const Costs& costs);

/// Links as given; `routes[source][target]` lists ids of links.
using Routes = std::vector<std::vector<std::vector<std::int32_t>>>;
Network wired(std::vector<Link> links, Routes routes);

/// One medium that every message crosses.
Network one_medium(int num_ranks, const Costs& costs);

}  // namespace ringside::test
