#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/topology/network.hpp"

/// Machines and questions that the tests of topologies share.
namespace ringside::test {

Machine custom_machine();    ///< Private links: 6 us, 20 GB/s.
Machine pcie_machine();      ///< 8 GPUs, PCIe 4.0 x16, peer to peer, one socket, no switches.
Machine nvswitch_machine();  ///< One node of 8 A100 with NVSwitch.
Machine dgx1_machine();      ///< One node of 8 V100, hybrid cube mesh.
/// Two nodes of nvswitch_machine() with that many HDR InfiniBand NICs each.
Machine two_node_machine(int nics);

/// `message` of the Error{bad_input} that building throws; empty when it throws none.
std::string error_of(const Machine& machine, int num_ranks);

/// Names of the links that a message crosses, in order.
std::vector<std::string> route_names(const Network& network, Rank source, Rank target);

/// How often all these messages together cross each link, by name.
using Flow = std::pair<Rank, Rank>;
std::map<std::string, int> crossings(const Network& network, const std::vector<Flow>& flows);

/// Every rank to the next one in the network's order.
std::vector<Flow> ring_flows(const Network& network);

/// α in microseconds and 1/β in GB/s of a message that is alone.
double latency_us(const Network& network, Rank source, Rank target);
double bandwidth_gb(const Network& network, Rank source, Rank target);

}  // namespace ringside::test
