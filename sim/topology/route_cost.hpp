#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <fmt/format.h>

#include "common/units.hpp"
#include "sim/topology/network.hpp"

namespace ringside {

/// α and β of an unshared route. Plain numbers (seconds, seconds per byte): read for every message.
struct RouteCost {
  double latency = 0;
  double inverse_bandwidth = 0;
};

/// Latencies add up; bytes flow through all links at once (cut-through), so that the narrowest one counts. A
/// link that the route crosses twice gives it half its capacity.
RouteCost route_cost(std::span<const Link> links, std::span<const std::int32_t> route);

/// Bytes per second; infinite where a byte takes no time, as on no links.
double rate_of(double inverse_bandwidth);

/// How much longer a transfer takes because one of its ends is a straggler: the slower end sets the pace.
double transfer_slowdown(const Network& network, Rank source, Rank target);

/// 1 for a rank that is no straggler.
double slowdown(const Network& network, Rank rank);

bool has_stragglers(const Network& network);

/// γ of a rank without its slowdown, seconds per byte.
double reduction_cost(const Network& network, Rank rank);

/// Whether reductions of some rank take time.
bool reduces_in_time(const Network& network);

// The ports of a uniform network whose ranks have one out and one in each (Network::Uniform::single_port),
// counted like the links of a topology.

inline std::int32_t port_out(Rank rank) { return 2 * rank; }
inline std::int32_t port_in(Rank rank) { return 2 * rank + 1; }
inline bool leads_out(std::int32_t port) { return port % 2 == 0; }
inline std::string port_name(std::int32_t port) {
  return fmt::format("rank {}'s port {}", port / 2, leads_out(port) ? "out" : "in");
}

}  // namespace ringside
