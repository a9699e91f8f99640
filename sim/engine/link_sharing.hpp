#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/units.hpp"
#include "results/limit.hpp"
#include "schedule/program/execution.hpp"
#include "sim/engine/medium.hpp"
#include "sim/sharing/link_use.hpp"
#include "sim/sharing/max_min_solver.hpp"
#include "sim/topology/network.hpp"
#include "sim/topology/route_cost.hpp"

namespace ringside {

/// Messages share the links that they cross: first the route's latencies pass, then bytes flow through all
/// links at once at the max-min fair share. A flow that crosses a
/// link twice fills it twice as fast. Reductions take γ·bytes and share nothing; local copies are free.
class LinkSharing final : public Medium {
 public:
  /// Without a topology the network must be uniform: then ranks share nothing, or each its own port.
  LinkSharing(const Network& network, Activities& activities);

  bool free(const Work& work) const override;
  Activities::Id begin(const Work& work) override;
  Stage finish(Activities::Id id) override;
  void share() override;
  std::vector<Limit> limits() const override;
  std::optional<NicUse> nics() const override;

  /// Bytes that so many links and messages under way need, about.
  static double memory(double links, double messages);

 private:
  enum class Phase : std::uint8_t { latency, flowing, reducing };
  struct Flow {
    Phase phase = Phase::latency;
    double work = 0;  ///< Bytes to flow; a straggler's count more.
  };
  struct Limiting {
    bool now = false;
    double since = 0;
  };

  Flow& flow(Activities::Id id) { return flows_[static_cast<std::size_t>(id)]; }
  RouteCost find_route(Rank source, Rank target);
  void account(std::int32_t id);

  const Network& network_;
  Activities& activities_;
  MaxMinSolver solver_;      ///< Links are its constraints, flows its variables.
  std::vector<Flow> flows_;  ///< By activity.
  std::vector<LinkUse> links_;
  std::vector<Limiting> limiting_;  ///< By link.
  std::vector<std::int32_t> route_;
};

/// The link that takes longest to carry what crosses it, however messages are ordered.
struct BusiestLink {
  Seconds seconds;  ///< Bytes that cross it / its capacity: no run of the schedule takes less.
  Limit limit;      ///< Which link, and how many messages cross it; `flows` are not counted.
};

/// None where no messages share links, and beyond four million messages, which take seconds to count.
std::optional<BusiestLink> busiest_link(const Execution& execution, const Network& network);

}  // namespace ringside
