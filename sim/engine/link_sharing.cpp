#include "sim/engine/link_sharing.hpp"

#include <algorithm>

#include "common/error.hpp"
#include "common/index.hpp"
#include "sim/topology/ports.hpp"
#include "sim/topology/route_cost.hpp"

namespace ringside {

LinkSharing::LinkSharing(const Network& network, Activities& activities)
    : network_(network), activities_(activities) {
  RINGSIDE_CHECK(network.topology != nullptr || network.uniform,
                 "a network has neither links nor a uniform cost");
  if (network.topology != nullptr) {
    for (const Link& link : network.topology->links()) {
      solver_.add_constraint(rate_of(inverse(link.capacity).value));
    }
    links_.resize(network.topology->links().size());
  } else if (network.uniform->single_port) {
    links_.resize(2 * at(network.num_ranks));
    for (std::size_t id = 0; id < links_.size(); ++id) {
      solver_.add_constraint(rate_of(network.uniform->inverse_bandwidth.value));
    }
  }
  limiting_.resize(links_.size());
}

bool LinkSharing::free(const Work& work) const {
  return work.kind == WorkKind::local_copy ||
         (work.kind == WorkKind::reduction &&
          (work.bytes == 0 || reduction_cost(network_, work.target) == 0));
}

Activities::Id LinkSharing::begin(const Work& work) {
  RINGSIDE_CHECK(!free(work), "work that takes no time was begun");
  const auto bytes = static_cast<double>(work.bytes);
  const bool transfer = work.kind == WorkKind::transfer;
  const double factor = transfer_slowdown(network_, work.source, work.target);
  RouteCost cost;
  if (transfer) {
    cost = find_route(work.source, work.target);
  }
  const Activities::Id id =
      activities_.begin(factor * (transfer ? cost.latency : reduction_cost(network_, work.target) * bytes));
  flows_.resize(std::max(flows_.size(), static_cast<std::size_t>(id) + 1));
  Flow& begun = flow(id);
  begun.phase = transfer ? Phase::latency : Phase::reducing;
  if (transfer) {
    begun.work = factor * bytes;
    solver_.define(id, rate_of(cost.inverse_bandwidth), route_);
    for (const std::int32_t link : route_) {
      bool& carried = links_[static_cast<std::size_t>(link)].carried;
      carried = carried || begun.work > 0;
    }
  }
  activities_.set_rate(id, 1);
  return id;
}

Stage LinkSharing::finish(Activities::Id id) {
  Flow& finished = flow(id);
  if (finished.phase == Phase::latency && finished.work > 0) {
    finished.phase = Phase::flowing;
    activities_.renew(id, finished.work);
    solver_.enter(id);
    return Stage::under_way;
  }
  if (finished.phase == Phase::flowing) {
    solver_.leave(id);
  }
  activities_.end(id);
  return Stage::done;
}

/// Leaves the links of the route in `route_`.
RouteCost LinkSharing::find_route(Rank source, Rank target) {
  if (network_.topology == nullptr) {
    if (network_.uniform->single_port) {
      route_ = {port_out(source), port_in(target)};
    }
    return {.latency = network_.uniform->latency.value,
            .inverse_bandwidth = network_.uniform->inverse_bandwidth.value};
  }
  network_.topology->route(source, target, route_);
  return route_cost(network_.topology->links(), route_);
}

void LinkSharing::share() {
  solver_.solve();
  for (const Activities::Id id : solver_.decided()) {
    activities_.set_rate(id, solver_.value(id));
  }
  for (const std::int32_t link : solver_.examined()) {
    account(link);
  }
}

/// Notes whether the link limits from now on.
void LinkSharing::account(std::int32_t id) {
  LinkUse& link = links_[static_cast<std::size_t>(id)];
  Limiting& limiting = limiting_[static_cast<std::size_t>(id)];
  if (limiting.now) {
    link.limiting_time += activities_.now() - limiting.since;
  }
  limiting = {.now = solver_.binding(id), .since = activities_.now()};
  if (limiting.now && solver_.num_variables(id) > link.flows) {
    link.flows = solver_.num_variables(id);
    link.crossings = solver_.total_weight(id);
  }
}

double LinkSharing::memory(double links, double messages) {
  return links * (sizeof(LinkUse) + sizeof(Limiting)) + messages * sizeof(Flow) +
         MaxMinSolver::memory(links, messages);
}

std::vector<Limit> LinkSharing::limits() const { return limits_of(network_, links_); }

std::optional<NicUse> LinkSharing::nics() const { return nics_of(network_, links_); }

}  // namespace ringside
