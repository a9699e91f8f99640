#include "tests/sim/engine/networks.hpp"

#include <memory>
#include <utility>

#include <fmt/format.h>

namespace ringside::test {

namespace {

class WiredTopology final : public Topology {
 public:
  WiredTopology(std::vector<Link> links, Routes routes)
      : links_(std::move(links)), routes_(std::move(routes)) {}

  std::span<const Link> links() const override { return links_; }
  void route(Rank source, Rank target, std::vector<std::int32_t>& route) const override {
    route = routes_.at(static_cast<std::size_t>(source)).at(static_cast<std::size_t>(target));
  }

 private:
  std::vector<Link> links_;
  Routes routes_;
};

Link link(std::string name, const Costs& costs) {
  return {.name = std::move(name), .latency = {costs.latency}, .capacity = {1 / costs.inverse_bandwidth}};
}

void set_reduction(Network& network, double cost) {
  network.reduction.assign(static_cast<std::size_t>(network.num_ranks), SecondsPerByte{cost});
}

Routes empty_routes(int num_ranks) {
  const auto n = static_cast<std::size_t>(num_ranks);
  return Routes(n, std::vector<std::vector<std::int32_t>>(n));
}

}  // namespace

Network uniform_network(int num_ranks, const Costs& costs) {
  Network network;
  network.num_ranks = num_ranks;
  network.uniform = Network::Uniform{.latency = {costs.latency},
                                     .inverse_bandwidth = {costs.inverse_bandwidth},
                                     .reduction = {costs.reduction}};
  return network;
}

Network wired(std::vector<Link> links, Routes routes) {
  Network network;
  network.num_ranks = static_cast<int>(routes.size());
  network.topology = std::make_unique<WiredTopology>(std::move(links), std::move(routes));
  return network;
}

Network private_links(int num_ranks, const Costs& costs) {
  Routes routes = empty_routes(num_ranks);
  std::vector<Link> links;
  for (std::size_t source = 0; source < routes.size(); ++source) {
    for (std::size_t target = 0; target < routes.size(); ++target) {
      if (source != target) {
        routes[source][target] = {static_cast<std::int32_t>(links.size())};
        links.push_back(link(fmt::format("link {} to {}", source, target), costs));
      }
    }
  }
  Network network = wired(std::move(links), std::move(routes));
  set_reduction(network, costs.reduction);
  return network;
}

Network one_medium(int num_ranks, const Costs& costs) {
  Routes routes = empty_routes(num_ranks);
  for (auto& targets : routes) {
    for (auto& route : targets) {
      route = {0};
    }
  }
  Network network = wired({link("the medium", costs)}, std::move(routes));
  set_reduction(network, costs.reduction);
  return network;
}

}  // namespace ringside::test
