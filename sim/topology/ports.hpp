#pragma once

#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "common/units.hpp"

/// The ports of a uniform network whose ranks have one out and one in each (Network::Uniform::single_port),
/// counted like the links of a topology.
namespace ringside {

inline std::int32_t port_out(Rank rank) { return 2 * rank; }
inline std::int32_t port_in(Rank rank) { return 2 * rank + 1; }
inline bool leads_out(std::int32_t port) { return port % 2 == 0; }
inline std::string port_name(std::int32_t port) {
  return fmt::format("rank {}'s port {}", port / 2, leads_out(port) ? "out" : "in");
}

}  // namespace ringside
