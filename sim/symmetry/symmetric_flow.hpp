#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "common/units.hpp"
#include "schedule/program/execution.hpp"
#include "sim/sharing/link_use.hpp"
#include "sim/symmetry/partition.hpp"
#include "sim/topology/network.hpp"

namespace ringside {

struct SymmetryOptions {
  /// More events of classes than this are not simulated.
  std::int64_t most_events = 200'000'000;
  /// With more classes than this part of all moves that are written there is nothing to gain.
  double most_classes = 0.5;
  /// May be null. What the same execution on another network left here is tried first.
  KnownPartition* known = nullptr;
};

/// What a flow simulation of all ranks takes, found by that of one rank, link and move of each class.
struct SymmetricFlow {
  Seconds seconds = {};
  std::vector<LinkUse> links = {};  ///< By link.
  double num_messages = 0;          ///< Those of all ranks.
  std::int64_t events = 0;          ///< That were simulated.
  std::int32_t rank_classes = 0;    ///< In the stage that has most.
  Partition partition = {};         ///< Was checked.
};

/// Why there is none, a clause: `its chunks differ in length, …`.
struct NoSymmetry {
  std::string reason;
};

/// Equal to simulate_flow() but for rounding: partition.hpp says why. Throws Bug when the check fails.
std::variant<SymmetricFlow, NoSymmetry> simulate_symmetric(const Execution& execution, const Network& network,
                                                           const SymmetryOptions& options = {});

}  // namespace ringside
