#include "sim/link_sharing.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <limits>

#include <fmt/format.h>

#include "common/error.hpp"

namespace ringside {

namespace {

/// Shares that differ by less are one level: rounding must not split links that are equally full.
constexpr double kSameShare = 1 + 1e-12;
/// A relative difference of rates that is nothing but rounding.
constexpr double kSettled = 1e-9;
constexpr double kUndecided = -1;
constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr std::size_t kMostLimits = 3;

/// Limiting links that differ in nothing but the numbers in their names.
struct Alike {
  std::string name;  ///< Of the first.
  int flows = 0;
  int uses = 0;
  bool others = false;
};

std::string without_digits(std::string name) {
  name.erase(std::remove_if(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0; }),
             name.end());
  return name;
}

/// `2 flows share GPU 0 PCIe up (4 crossings), and so with other links of this kind`. How many others is not said: of links that
/// are full alike, those whose flows are all held back by another one do not count as limiting.
std::string in_words(const Alike& kind) {
  std::string words = fmt::format("{} flows share {}", kind.flows, kind.name);
  if (kind.uses > kind.flows) {
    words += fmt::format(" ({} crossings)", kind.uses);
  }
  if (kind.others) {
    words += ", and so with other links of this kind";
  }
  return words;
}

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
    begun.bottleneck = kNone;
    set_hops(begun);
  }
  activities_.set_rate(id, 1);
  return id;
}

Stage LinkSharing::finish(Activities::Id id) {
  Flow& finished = flow(id);
  if (finished.phase == Phase::latency && finished.work > 0) {
    finished.phase = Phase::flowing;
    activities_.renew(id, finished.work);
    join_links(id);
    return Stage::under_way;
  }
  if (finished.phase == Phase::flowing) {
    leave_links(finished);
  }
  activities_.end(id);
  return Stage::done;
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
    LinkState& joined = link(hops[i].link);
    joined.carried = true;
    std::vector<Crossing>& flows = joined.flows;
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
      touch(hop.link);
    }
  }
}

void LinkSharing::share() {
  // Links touched so far have lost a flow and were full: who was held back by them may be faster now.
  const std::size_t num_relieved = touched_.size();
  for (std::size_t i = 0; i < num_relieved; ++i) {
    for (const Crossing& crossing : link(touched_[i]).flows) {
      if (flow(crossing.flow).bottleneck == touched_[i]) {
        affect(crossing.flow);
      }
    }
  }
  for (const Activities::Id id : joined_) {
    if (alone(flow(id))) {
      flow(id).rate = flow(id).alone_rate;
      activities_.set_rate(id, flow(id).rate);
    } else {
      affect(id);
    }
  }
  joined_.clear();
  settle();
}

bool LinkSharing::alone(const Flow& flow) {
  return std::all_of(flow.hops.begin(), flow.hops.end(),
                     [this](const Hop& hop) { return link(hop.link).flows.size() == 1; });
}

void LinkSharing::affect(Activities::Id id) {
  Flow& affected = flow(id);
  if (!affected.affected) {
    affected.affected = true;
    affected_.push_back(id);
    for (const Hop& hop : affected.hops) {
      touch(hop.link);
    }
  }
}

void LinkSharing::touch(std::int32_t id) {
  if (!link(id).touched) {
    link(id).touched = true;
    touched_.push_back(id);
  }
}

/// Finds new rates for the affected flows while all others keep theirs, then affects those others that are not at their
/// max-min fair share any more, until there are none: as a rule a small part of the flows that share links, directly
/// or through others.
void LinkSharing::settle() {
  std::size_t num_settled = 0;
  while (num_settled < affected_.size()) {
    num_settled = affected_.size();
    fill_links();
    const std::size_t num_filled = touched_.size();
    for (std::size_t i = 0; i < num_filled; ++i) {
      affect_unsettled(touched_[i]);
    }
  }
  for (const Activities::Id id : affected_) {
    flow(id).affected = false;
    activities_.set_rate(id, flow(id).rate);
  }
  for (const std::int32_t id : touched_) {
    link(id).touched = false;
    set_limiting(link(id), holds_back(id));
  }
  affected_.clear();
  touched_.clear();
}

/// Fills link after link with affected flows, the one with the smallest share first. The share of a link only grows
/// while others are filled, so that one noted earlier comes too early at worst, and is noted again.
void LinkSharing::fill_links() {
  for (const Activities::Id id : affected_) {
    flow(id).rate = kUndecided;
  }
  filling_.clear();
  for (const std::int32_t id : touched_) {
    prepare(id);
  }
  std::make_heap(filling_.begin(), filling_.end());
  double level = 0;
  while (!filling_.empty()) {
    std::pop_heap(filling_.begin(), filling_.end());
    const Filling smallest = filling_.back();
    filling_.pop_back();
    const LinkState& full = link(smallest.link);
    if (full.uses == 0) {
      continue;
    }
    const double share = full.left / full.uses;
    if (share > smallest.share * kSameShare) {
      filling_.push_back({.share = share, .link = smallest.link});
      std::push_heap(filling_.begin(), filling_.end());
      continue;
    }
    if (share > level * kSameShare) {
      level = share;
    }
    fill(smallest.link, level);
  }
}

/// What the link has for affected flows.
void LinkSharing::prepare(std::int32_t id) {
  LinkState& prepared = link(id);
  prepared.left = prepared.capacity;
  prepared.uses = 0;
  prepared.level = kInfinite;
  prepared.all_affected = true;
  for (const Crossing& crossing : prepared.flows) {
    const Flow& on_it = flow(crossing.flow);
    const std::int32_t uses = on_it.hops[static_cast<std::size_t>(crossing.hop)].uses;
    if (on_it.affected) {
      prepared.uses += uses;
      continue;
    }
    prepared.all_affected = false;
    if (prepared.capacity < kInfinite) {
      prepared.left -= uses * on_it.rate;
    }
  }
  prepared.left = std::max(0.0, prepared.left);
  if (prepared.uses > 0) {
    filling_.push_back({.share = prepared.left / prepared.uses, .link = id});
  }
}

/// Decides the flows on a link that is full when every undecided flow has the rate `level`.
void LinkSharing::fill(std::int32_t id, double level) {
  LinkState& full = link(id);
  full.level = level;
  for (const Crossing& crossing : full.flows) {
    Flow& on_it = flow(crossing.flow);
    if (on_it.affected && on_it.rate == kUndecided) {
      on_it.bottleneck = id;
      decide(on_it, level);
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

/// A flow has its fair share when one of its links is full and nobody on that link is faster. The flows on this link that
/// kept their rates must still satisfy this, and must not be faster than the affected ones that it holds back.
void LinkSharing::affect_unsettled(std::int32_t id) {
  const LinkState& filled = link(id);
  if (filled.all_affected) {
    return;
  }
  double fastest = 0;
  for (const Crossing& crossing : filled.flows) {
    if (flow(crossing.flow).affected) {
      fastest = std::max(fastest, flow(crossing.flow).rate);
    }
  }
  const bool full = filled.left <= filled.capacity * kSettled;
  for (const Crossing& crossing : filled.flows) {
    const Flow& kept = flow(crossing.flow);
    if (!kept.affected) {
      const bool too_fast = kept.rate > filled.level * (1 + kSettled);
      const bool too_slow = kept.bottleneck == id && (!full || fastest > kept.rate * (1 + kSettled));
      if (too_fast || (too_slow && slowed_down(kept))) {
        affect(crossing.flow);
      }
    }
  }
}

/// Whether the flow would be faster alone.
bool LinkSharing::slowed_down(const Flow& flow) { return flow.rate < flow.alone_rate * (1 - kSettled); }

bool LinkSharing::holds_back(std::int32_t id) {
  return std::any_of(link(id).flows.begin(), link(id).flows.end(), [this, id](const Crossing& crossing) {
    const Flow& on_it = flow(crossing.flow);
    return on_it.bottleneck == id && slowed_down(on_it);
  });
}

void LinkSharing::set_limiting(LinkState& link, bool limiting) {
  if (link.limiting) {
    link.limiting_time += activities_.now() - link.limiting_since;
  }
  link.limiting = limiting;
  link.limiting_since = activities_.now();
  if (limiting && link.flows.size() > static_cast<std::size_t>(link.most_flows)) {
    link.most_flows = static_cast<std::int32_t>(link.flows.size());
    link.most_uses = 0;
    for (const Crossing& crossing : link.flows) {
      link.most_uses += flow(crossing.flow).hops[static_cast<std::size_t>(crossing.hop)].uses;
    }
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
  std::vector<Alike> kinds;
  for (const std::size_t i : order) {
    const LinkState& link = links_[i];
    const std::string& name = network_.topology->links()[i].name;
    const auto same = std::find_if(kinds.begin(), kinds.end(), [&](const Alike& kind) {
      return kind.flows == link.most_flows && kind.uses == link.most_uses &&
             without_digits(kind.name) == without_digits(name);
    });
    if (same != kinds.end()) {
      same->others = true;
    } else {
      kinds.push_back({.name = name, .flows = link.most_flows, .uses = link.most_uses});
    }
  }
  kinds.resize(std::min(kinds.size(), kMostLimits));
  std::vector<std::string> sentences;
  std::transform(kinds.begin(), kinds.end(), std::back_inserter(sentences), in_words);
  return sentences;
}

std::optional<NicUse> LinkSharing::nics() const {
  if (network_.nics_per_node == 0) {
    return std::nullopt;
  }
  // The links out of the NICs stand node after node, as many for each.
  const std::vector<Vertex>& vertices = network_.vertices;
  const auto kind_of = [&](std::int32_t vertex) { return vertices[static_cast<std::size_t>(vertex)].kind; };
  std::vector<bool> carried;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const Link& link = network_.topology->links()[i];
    if (link.from >= 0 && link.to >= 0 && kind_of(link.from) == VertexKind::nic &&
        kind_of(link.to) == VertexKind::fabric) {
      carried.push_back(links_[i].carried);
    }
  }
  if (carried.empty()) {
    return std::nullopt;
  }
  const int num_nodes = (network_.num_ranks + network_.ranks_per_node - 1) / network_.ranks_per_node;
  const auto per_node = static_cast<std::ptrdiff_t>(carried.size()) / num_nodes;
  std::ptrdiff_t most = 0;
  for (auto node = carried.begin(); node != carried.end(); node += per_node) {
    most = std::max(most, std::count(node, node + per_node, true));
  }
  // Where there are more NICs than GPUs, one of these links stands for several.
  return NicUse{.used = static_cast<int>(most * network_.nics_per_node / per_node),
                .of = network_.nics_per_node};
}

}  // namespace ringside
