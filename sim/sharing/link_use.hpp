#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "results/prediction.hpp"
#include "sim/topology/network.hpp"

/// What a simulation with links keeps of each of them, and what it says of them in the end.
namespace ringside {

struct LinkUse {
  bool carried = false;  ///< Some flow was on it.
  std::int32_t flows =
      0;  ///< The most while it was limiting: it was saturated, and flows on it would be faster alone.
  std::int32_t crossings = 0;  ///< Crossings by these flows, some of which may cross it twice.
  double limiting_time = 0;    ///< Seconds.
};

/// The links that were limiting for longest, as in Prediction::limits. Without a topology: ranks' ports.
std::vector<Limit> limits_of(const Network& network, std::span<const LinkUse> links);

/// As in Prediction::nics.
std::optional<NicUse> nics_of(const Network& network, std::span<const LinkUse> links);

}  // namespace ringside
