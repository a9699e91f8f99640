#include "sim/engine/busiest_link.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "common/index.hpp"

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

void add_crossed(const Network& network, const Move& move, std::vector<std::int32_t>& route) {
  if (network.topology == nullptr || network.uniform) {
    route = {2 * move.source, 2 * move.target + 1};
  } else {
    network.topology->route(move.source, move.target, route);
  }
}

}  // namespace

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
      add_crossed(network, move, route);
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
