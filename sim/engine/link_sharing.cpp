#include "sim/engine/link_sharing.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "common/error.hpp"
#include "common/numbers.hpp"

namespace ringside {
namespace {

constexpr std::size_t kMostMessages = 4'000'000;

struct Load {
  double bytes = 0;
  std::int64_t messages = 0;
};

/// A port of rank `id / 2` where all pairs have the same link; the even ones send.
Link port_of(std::size_t id, const Network::Uniform& uniform) {
  return {.name = fmt::format("rank {} {}", id / 2, id % 2 == 0 ? "out" : "in"),
          .latency = {},
          .capacity = {1 / uniform.inverse_bandwidth.value}};
}

}  // namespace

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

std::optional<BusiestLink> busiest_link(const Execution& execution, const Network& network) {
  if (network.processor ||
      (network.uniform && (!network.uniform->single_port || network.uniform->inverse_bandwidth.value <= 0))) {
    return std::nullopt;
  }
  const std::size_t num_links =
      network.uniform ? 2 * at(network.num_ranks) : network.topology->links().size();
  std::vector<Load> loads(num_links);
  std::vector<Move> moves;
  std::vector<std::int32_t> route;
  std::size_t messages = 0;
  for (std::int64_t round = 0; round < execution.num_rounds(); ++round) {
    execution.write_round(round, moves);
    messages += moves.size();
    if (messages > kMostMessages) {
      return std::nullopt;
    }
    for (const Move& move : moves) {
      if (move.local()) {
        continue;
      }
      if (network.uniform) {
        route = {port_out(move.source), port_in(move.target)};
      } else {
        network.topology->route(move.source, move.target, route);
      }
      for (const std::int32_t link : route) {
        loads[at(link)].bytes += static_cast<double>(execution.bytes(move));
        ++loads[at(link)].messages;
      }
    }
  }
  const auto link_of = [&](std::size_t id) {
    return network.uniform ? port_of(id, *network.uniform) : network.topology->links()[id];
  };
  std::size_t busiest = 0;
  double longest = 0;
  for (std::size_t id = 0; id < loads.size(); ++id) {
    const double seconds = loads[id].bytes > 0 ? loads[id].bytes / link_of(id).capacity.value : 0;
    if (seconds > longest) {
      longest = seconds;
      busiest = id;
    }
  }
  if (longest <= 0) {
    return std::nullopt;
  }
  const Link link = link_of(busiest);
  return BusiestLink{.seconds = {longest},
                     .limit = {.link_kind = link.kind,
                               .link = name_of(link),
                               .node = link.node < 0 ? std::nullopt : std::optional<int>(link.node),
                               .crossings = static_cast<int>(std::min<std::int64_t>(
                                   loads[busiest].messages, static_cast<std::int64_t>(kMostMessages)))}};
}

}  // namespace ringside
