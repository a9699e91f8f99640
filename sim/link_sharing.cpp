#include "sim/link_sharing.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "common/error.hpp"

namespace ringside {

namespace {

/// Shares that differ by less are one level: rounding must not split links that are equally full.
constexpr double kSameShare = 1 + 1e-12;
/// A flow at this part of the rate that it has alone is not slowed down.
constexpr double kFullRate = 1 - 1e-9;
constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr std::size_t kMostLimits = 3;

double rate_of(double inverse_bandwidth) { return inverse_bandwidth > 0 ? 1 / inverse_bandwidth : kInfinite; }

}  // namespace

LinkSharing::LinkSharing(const Network& network, Activities& activities)
    : network_(network), activities_(activities) {
  RINGSIDE_CHECK(network.topology != nullptr || network.uniform,
                 "a network has neither links nor a uniform cost");
  if (network.topology != nullptr) {
    for (const Link& link : network.topology->links()) {
      links_.emplace_back().capacity = rate_of(inverse(link.capacity).value);
    }
  }
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
    begun.alone_rate = rate_of(cost.inverse_bandwidth);
    set_hops(begun);
  }
  activities_.set_rate(id, 1);
  return id;
}

bool LinkSharing::finish(Activities::Id id) {
  Flow& finished = flow(id);
  if (finished.phase == Phase::latency && finished.work > 0) {
    finished.phase = Phase::flowing;
    activities_.renew(id, finished.work);
    join_links(id);
    return false;
  }
  if (finished.phase == Phase::flowing) {
    leave_links(finished);
  }
  activities_.end(id);
  return true;
}

/// Leaves the links of the route in `route_`.
RouteCost LinkSharing::find_route(Rank source, Rank target) {
  if (network_.topology == nullptr) {
    return {.latency = network_.uniform->latency.value,
            .inverse_bandwidth = network_.uniform->inverse_bandwidth.value};
  }
  network_.topology->route(source, target, route_);
  return route_cost(network_.topology->links(), route_);
}

void LinkSharing::set_hops(Flow& flow) {
  flow.hops.clear();
  for (const std::int32_t id : route_) {
    const auto same =
        std::find_if(flow.hops.begin(), flow.hops.end(), [id](const Hop& hop) { return hop.link == id; });
    if (same != flow.hops.end()) {
      ++same->uses;
    } else {
      flow.hops.push_back({.link = id});
    }
  }
}

void LinkSharing::join_links(Activities::Id id) {
  std::vector<Hop>& hops = flow(id).hops;
  for (std::size_t i = 0; i < hops.size(); ++i) {
    std::vector<Crossing>& flows = link(hops[i].link).flows;
    hops[i].position = static_cast<std::int32_t>(flows.size());
    flows.push_back({.flow = id, .hop = static_cast<std::int32_t>(i)});
  }
  joined_.push_back(id);
}

/// When a flow leaves a link that limits nobody, all others keep the link that limits them, and so their rates.
void LinkSharing::leave_links(const Flow& leaving) {
  for (const Hop& hop : leaving.hops) {
    LinkState& left = link(hop.link);
    const Crossing moved = left.flows.back();
    left.flows[static_cast<std::size_t>(hop.position)] = moved;
    flow(moved.flow).hops[static_cast<std::size_t>(moved.hop)].position = hop.position;
    left.flows.pop_back();
    if (left.limiting) {
      relieved_.push_back(hop.link);
    }
  }
}

void LinkSharing::share() {
  ++num_shared_;
  for (const Activities::Id id : joined_) {
    if (flow(id).shared == num_shared_) {
      continue;
    }
    if (alone(flow(id))) {
      activities_.set_rate(id, flow(id).alone_rate);
      continue;
    }
    see_flow(id);
    share_component();
  }
  joined_.clear();
  for (const std::int32_t id : relieved_) {
    if (link(id).shared != num_shared_) {
      see_link(id);
      share_component();
    }
  }
  relieved_.clear();
}

bool LinkSharing::alone(const Flow& flow) {
  return std::all_of(flow.hops.begin(), flow.hops.end(), [this](const Hop& hop) {
    return link(hop.link).flows.size() == 1 && !link(hop.link).limiting;
  });
}

void LinkSharing::see_flow(Activities::Id id) {
  if (flow(id).shared != num_shared_) {
    flow(id).shared = num_shared_;
    component_flows_.push_back(id);
  }
}

void LinkSharing::see_link(std::int32_t id) {
  LinkState& seen = link(id);
  if (seen.shared != num_shared_) {
    seen.shared = num_shared_;
    component_links_.push_back(id);
    for (const Crossing& crossing : seen.flows) {
      see_flow(crossing.flow);
    }
  }
}

/// Gives max-min fair rates to the flows that are seen and to all that share links with them.
void LinkSharing::share_component() {
  for (std::size_t i = 0; i < component_flows_.size(); ++i) {
    for (const Hop& hop : flow(component_flows_[i]).hops) {
      see_link(hop.link);
    }
  }
  for (const std::int32_t id : component_links_) {
    link(id).left = link(id).capacity;
    link(id).uses = 0;
    link(id).limits = false;
  }
  for (const Activities::Id id : component_flows_) {
    flow(id).rate = 0;
    for (const Hop& hop : flow(id).hops) {
      link(hop.link).uses += hop.uses;
    }
  }
  open_links_ = component_links_;
  while (true) {
    std::erase_if(open_links_, [this](std::int32_t id) { return link(id).uses == 0; });
    if (open_links_.empty()) {
      break;
    }
    double level = kInfinite;
    for (const std::int32_t id : open_links_) {
      level = std::min(level, link(id).left / link(id).uses);
    }
    RINGSIDE_CHECK(level > 0, "a link has no capacity");
    fill_links(level);
  }
  for (const Activities::Id id : component_flows_) {
    activities_.set_rate(id, flow(id).rate);
  }
  for (const std::int32_t id : component_links_) {
    set_limiting(link(id), link(id).limits);
  }
  component_flows_.clear();
  component_links_.clear();
}

/// Decides the flows on the links that are full when every undecided flow has the rate `level`.
void LinkSharing::fill_links(double level) {
  for (const std::int32_t id : open_links_) {
    LinkState& full = link(id);
    if (full.uses == 0 || full.left / full.uses > level * kSameShare) {
      continue;
    }
    for (const Crossing& crossing : full.flows) {
      Flow& on_it = flow(crossing.flow);
      if (on_it.rate == 0) {
        full.limits = full.limits || level < on_it.alone_rate * kFullRate;
        decide(on_it, level);
      }
    }
  }
}

void LinkSharing::decide(Flow& flow, double rate) {
  flow.rate = rate;
  for (const Hop& hop : flow.hops) {
    LinkState& crossed = link(hop.link);
    crossed.uses -= hop.uses;
    if (crossed.capacity < kInfinite) {
      crossed.left = std::max(0.0, crossed.left - hop.uses * rate);
    }
  }
}

void LinkSharing::set_limiting(LinkState& link, bool limiting) {
  if (link.limiting) {
    link.limiting_time += activities_.now() - link.limiting_since;
  }
  link.limiting = limiting;
  link.limiting_since = activities_.now();
  if (limiting) {
    link.most_flows = std::max(link.most_flows, static_cast<std::int32_t>(link.flows.size()));
  }
}

double LinkSharing::memory(double links, double messages) {
  constexpr double kHops = 4;
  return links * sizeof(LinkState) + messages * (sizeof(Flow) + kHops * (sizeof(Hop) + sizeof(Crossing)));
}

std::vector<std::string> LinkSharing::limits() const {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    if (links_[i].limiting_time > 0) {
      order.push_back(i);
    }
  }
  std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
    return links_[a].limiting_time > links_[b].limiting_time;
  });
  order.resize(std::min(order.size(), kMostLimits));
  std::vector<std::string> sentences;
  for (const std::size_t i : order) {
    sentences.push_back(
        fmt::format("{} flows share {}", links_[i].most_flows, network_.topology->links()[i].name));
  }
  return sentences;
}

}  // namespace ringside
