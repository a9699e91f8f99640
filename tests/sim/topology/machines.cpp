#include "tests/sim/topology/machines.hpp"

#include <gtest/gtest.h>

#include "common/error.hpp"
#include "sim/topology/route_cost.hpp"

namespace ringside::test {

Machine custom_machine() {
  return {.name = "custom", .intra = IntraLink{.latency = Seconds{6e-6}, .bandwidth = BytesPerSecond{20e9}}};
}

Machine pcie_machine() {
  return {.name = "pcie box",
          .gpus_per_node = 8,
          .intra = IntraLink{.kind = IntraKind::pcie, .generation = 4, .lanes = 16, .peer_to_peer = true}};
}

Machine nvswitch_machine() {
  return {
      .name = "8 A100",
      .gpus_per_node = 8,
      .gpu = Gpu{"A100-SXM4-80GB"},
      .intra = IntraLink{.kind = IntraKind::nvlink, .generation = 3, .links_per_gpu = 12, .nvswitch = true}};
}

Machine dgx1_machine() {
  return {.name = "DGX-1",
          .gpus_per_node = 8,
          .gpu = Gpu{"V100-SXM2-16GB"},
          .intra = IntraLink{
              .kind = IntraKind::nvlink, .generation = 2, .links_per_gpu = 6, .wiring = "hybrid_cube_mesh"}};
}

Machine two_node_machine(int nics) {
  Machine machine = nvswitch_machine();
  machine.nodes = 2;
  machine.inter =
      InterLink{.kind = InterKind::infiniband, .rate = BytesPerSecond{25e9}, .nics = nics, .gpudirect = true};
  return machine;
}

std::string error_of(const Machine& machine, int num_ranks) {
  try {
    build_network(machine, num_ranks);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    return error.what();
  }
  return {};
}

std::vector<std::string> route_names(const Network& network, Rank source, Rank target) {
  std::vector<std::int32_t> route;
  network.topology->route(source, target, route);
  std::vector<std::string> names;
  for (const std::int32_t id : route) {
    names.push_back(name_of(network.topology->links()[static_cast<std::size_t>(id)]));
  }
  return names;
}

std::map<std::string, int> crossings(const Network& network, const std::vector<Flow>& flows) {
  std::map<std::string, int> count;
  for (const auto& [source, target] : flows) {
    for (const std::string& name : route_names(network, source, target)) {
      ++count[name];
    }
  }
  return count;
}

std::vector<Flow> ring_flows(const Network& network) {
  std::vector<Flow> flows;
  const auto rank_at = [&](int position) {
    const int wrapped = position % network.num_ranks;
    return network.order.empty() ? wrapped : network.order[static_cast<std::size_t>(wrapped)];
  };
  for (int position = 0; position < network.num_ranks; ++position) {
    flows.emplace_back(rank_at(position), rank_at(position + 1));
  }
  return flows;
}

namespace {

RouteCost cost(const Network& network, Rank source, Rank target) {
  std::vector<std::int32_t> route;
  network.topology->route(source, target, route);
  return route_cost(network.topology->links(), route);
}

}  // namespace

double latency_us(const Network& network, Rank source, Rank target) {
  return cost(network, source, target).latency * 1e6;
}

double bandwidth_gb(const Network& network, Rank source, Rank target) {
  return 1e-9 / cost(network, source, target).inverse_bandwidth;
}

}  // namespace ringside::test
